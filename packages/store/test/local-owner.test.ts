import { threadId } from "node:worker_threads";
import { expect, it } from "vitest";
import { LocalOwner } from "../src/node.js";

it("tells who is open, in this process", () => {
  const [one, two] = [new LocalOwner(), new LocalOwner()];
  expect(one.isAlive(two.id)).toBe(true);
  two.close();
  expect(one.isAlive(two.id)).toBe(false);
  expect(two.isAlive(one.id)).toBe(true);
  one.close();
});

it("says nothing of another thread, nor of another machine", () => {
  const owner = new LocalOwner();
  expect(owner.isAlive(owner.id.replace(`/${threadId}/`, `/${threadId + 1}/`))).toBeUndefined();
  expect(owner.isAlive("elsewhere:b:p:1:1/0/x")).toBeUndefined();
  owner.close();
});
