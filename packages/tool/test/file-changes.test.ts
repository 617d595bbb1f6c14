import { expect, test } from "vitest";
import { type FileChangeNote, fileChangesOf, Resources } from "../src/index.js";

const change = (i: number): FileChangeNote => ({ path: `f${i}`, change: "changed" });

test("the changes of a session are given to each who asks, from where he left off", () => {
  const resources = new Resources();
  const log = fileChangesOf(resources);
  expect(fileChangesOf(resources)).toBe(log);
  expect(fileChangesOf(new Resources())).not.toBe(log);
  expect([log.count, log.since(0)]).toEqual([0, []]);
  log.add(change(0));
  log.add(change(1));
  expect(log.count).toBe(2);
  expect(log.since(0)).toEqual([change(0), change(1)]);
  expect(log.since(1)).toEqual([change(1)]);
  expect(log.since(2)).toEqual([]);
});

test("of very many the last thousand are there at least, and not all", () => {
  const log = fileChangesOf(new Resources());
  for (let i = 0; i < 5000; i++) log.add(change(i));
  expect(log.count).toBe(5000);
  expect(log.since(4000)).toEqual(Array.from({ length: 1000 }, (_, i) => change(4000 + i)));
  expect(log.since(4999)).toEqual([change(4999)]);
  expect(log.since(0).length).toBeLessThan(2000);
});
