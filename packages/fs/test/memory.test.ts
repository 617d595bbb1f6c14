import { describe, expect, it } from "vitest";
import { MemoryFileSystem } from "../src/memory.js";
import { describeFileSystem } from "./conformance.js";

describeFileSystem("MemoryFileSystem", async () => {
  const fs = new MemoryFileSystem();
  return {
    fs,
    symlink: (target, path) => fs.symlink(target, path),
    chmod: async (path, mode) => {
      const data = await fs.readFile(path);
      await fs.remove(path);
      await fs.writeFile(path, data, { mode });
    },
    outside: "/elsewhere",
  };
});

describe("MemoryFileSystem", () => {
  it("starts with the files given, and takes its time from the clock given", async () => {
    const fs = new MemoryFileSystem(
      { "a/b.txt": "hello", "c.bin": new Uint8Array([1, 2]) },
      { root: "/x", now: () => 5 },
    );
    expect(await fs.readdir(".")).toEqual([
      { name: "a", type: "directory" },
      { name: "c.bin", type: "file" },
    ]);
    expect(await fs.stat("/x/a/b.txt")).toMatchObject({ size: 5, mtimeMs: 5, mode: 0o644 });
  });
});
