import { Resources, type ToolContext } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { exclusively } from "../src/lock.js";
import { MAX_KEPT, seenFiles } from "../src/seen.js";
import { memoryFs } from "./helpers.js";

const context = (resources = new Resources()): ToolContext => ({
  callId: "c",
  signal: new AbortController().signal,
  resources,
  names: { tool: "t", param: (name) => name, toolOf: () => undefined, paramOf: () => undefined },
  notify: () => {},
});

describe("what was seen", () => {
  it("is kept without the content of large files, and of the oldest where they are many", () => {
    const seen = seenFiles(memoryFs(), context());
    seen.set("large", { version: "1", content: new Uint8Array(MAX_KEPT + 1) });
    for (let i = 0; i < 70; i++) seen.set(`f${i}`, { version: "1", content: new Uint8Array(MAX_KEPT) });
    const kept = Array.from({ length: 70 }, (_, i) => seen.get(`f${i}`)?.content !== undefined);
    expect(kept.indexOf(true)).toBe(6);
    expect(kept.lastIndexOf(false)).toBe(5);
    expect(seen.get("large")).toEqual({ version: "1", fingerprint: undefined, content: undefined });
  });
});

describe("changes of one file", () => {
  it("wait for each other, and may give up waiting without letting others pass", async () => {
    const fs = memoryFs();
    const never = new AbortController().signal;
    const done: string[] = [];
    let finish: () => void = () => {};
    const first = exclusively(fs, "f", never, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      done.push("first");
    });
    const controller = new AbortController();
    const second = exclusively(fs, "f", controller.signal, async () => done.push("second"));
    const third = exclusively(fs, "f", never, async () => done.push("third"));
    await exclusively(fs, "other", never, async () => done.push("other"));
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    finish();
    await Promise.all([first, third]);
    expect(done).toEqual(["other", "first", "third"]);
  });

  it("go on after one that failed", async () => {
    const fs = memoryFs();
    const { signal } = new AbortController();
    const failing = exclusively(fs, "f", signal, () => Promise.reject(new Error("no")));
    const next = exclusively(fs, "f", signal, async () => "yes");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });
});
