import console from "node:console";
import { expect, it, vi } from "vitest";
import { withQuietConsole } from "../src/quiet-console.js";

it("mutes what runs inside it, and nothing else, and leaves the console as it was", async () => {
  const heard = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const original = console.error;
  const inside = async (name: string) => {
    await new Promise(setImmediate);
    console.error(name);
    return name;
  };
  const failing = withQuietConsole(async () => {
    await inside("failing");
    throw new Error("broken");
  });
  const [one, outside, two] = await Promise.all([
    withQuietConsole(() => inside("one")),
    inside("outside"),
    withQuietConsole(() => inside("two")),
    expect(failing).rejects.toThrow("broken"),
  ]);
  expect([one, outside, two]).toEqual(["one", "outside", "two"]);
  expect(heard.mock.calls).toEqual([["outside"]]);
  expect(console.error).toBe(original);
});
