import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { isProcessAlive, processName } from "../src/node.js";

it("tells a process that runs from one that ended", async () => {
  expect(isProcessAlive(processName())).toBe(true);
  const child = spawn(process.execPath, ["-e", ""]);
  const name = processName().replace(/:\d+:.*$/, `:${child.pid}:1`);
  await once(child, "close");
  expect(isProcessAlive(name)).toBe(false);
});

it.runIf(process.platform === "linux")("tells a process from another that got its number later", () => {
  expect(isProcessAlive(processName().replace(/\d+$/, "1"))).toBe(false);
});

it("says nothing of other machines, and of names that it did not make", () => {
  expect(isProcessAlive("elsewhere:b:p:1:1")).toBeUndefined();
  expect(isProcessAlive("")).toBeUndefined();
});
