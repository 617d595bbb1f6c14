import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { type FileSystem, FsError, isFsError, joinPath } from "../src/index.js";
import { MemoryFileSystem } from "../src/memory.js";
import { NodeFileSystem } from "../src/node.js";
import { OverlayFileSystem } from "../src/overlay.js";
import { describeFileSystem, refusal } from "./conformance.js";

const made: string[] = [];
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
});

const text = async (fs: FileSystem, path: string) => new TextDecoder().decode(await fs.readFile(path));

/** Every file with its text, every folder and link, by path. */
async function tree(fs: FileSystem, folder = "."): Promise<{ [path: string]: string }> {
  const found: { [path: string]: string } = {};
  for (const { name, type } of await fs.readdir(folder)) {
    const path = joinPath(folder, name);
    if (type === "directory") Object.assign(found, { [path]: "folder" }, await tree(fs, path));
    else found[path] = type === "file" ? `file ${await text(fs, path)}` : type;
  }
  return found;
}

describeFileSystem("OverlayFileSystem over memory", async () => {
  const base = new MemoryFileSystem();
  const fs = new OverlayFileSystem(base);
  return {
    fs,
    symlink: async (target, path) => {
      await fs.commit();
      await base.symlink(target, path);
    },
    chmod: async (path, mode) => {
      const data = await fs.readFile(path);
      await fs.remove(path);
      await fs.writeFile(path, data, { mode });
    },
    outside: "/elsewhere",
  };
});

describeFileSystem("OverlayFileSystem over the disk", async () => {
  const top = await mkdtemp(join(tmpdir(), "shedkit-overlay-"));
  made.push(top);
  await mkdir(join(top, "root"));
  await mkdir(join(top, "outside"));
  await writeFile(join(top, "outside/secret.txt"), "secret");
  const fs = new OverlayFileSystem(new NodeFileSystem(join(top, "root")));
  return {
    fs,
    symlink: async (target, path) => {
      await fs.commit();
      await symlink(target, join(top, "root", path));
    },
    chmod: async (path, mode) => {
      const data = await fs.readFile(path);
      await fs.remove(path);
      await fs.writeFile(path, data, { mode });
    },
    outside: join(top, "outside"),
  };
});

describe("OverlayFileSystem", () => {
  it("changes nothing below it until it is told to, then everything", async () => {
    const base = new MemoryFileSystem({ a: "a", "d/b": "b", "d/c": "c", gone: "g" });
    const before = await tree(base);
    const fs = new OverlayFileSystem(base);
    await fs.writeFile("a", "A");
    await fs.remove("gone");
    await fs.mkdir("new/deep", { recursive: true });
    await fs.writeFile("new/deep/x", "x");
    await fs.rename("d", "moved");
    await fs.writeFile("moved/b", "B");
    expect(await tree(base)).toEqual(before);
    const after = await tree(fs);
    expect(after).toEqual({
      a: "file A",
      moved: "folder",
      "moved/b": "file B",
      "moved/c": "file c",
      new: "folder",
      "new/deep": "folder",
      "new/deep/x": "file x",
    });
    await fs.commit();
    expect(await tree(base)).toEqual(after);
    expect(await fs.diff()).toEqual([]);
  });

  it("tells what differs, with the bytes, and forgets it when dropped", async () => {
    const base = new MemoryFileSystem({ a: "a", same: "s", "d/b": "b" });
    const fs = new OverlayFileSystem(base);
    await fs.writeFile("a", "A");
    await fs.writeFile("same", "s");
    await fs.rename("d", "e");
    await fs.writeFile("new", "n");
    const changes = (await fs.diff()).map(({ path, type, before, after }) => {
      const show = (bytes?: Uint8Array) => bytes && new TextDecoder().decode(bytes);
      return [type, path, show(before), show(after)];
    });
    expect(changes).toEqual([
      ["changed", "a", "a", "A"],
      ["removed", "d/b", "b", undefined],
      ["created", "e/b", undefined, "b"],
      ["created", "new", undefined, "n"],
    ]);
    fs.drop();
    expect(await fs.diff()).toEqual([]);
    expect(await tree(fs)).toEqual(await tree(base));
  });

  it("keeps the mode of what it changes and moves", async () => {
    const base = new MemoryFileSystem();
    await base.writeFile("run.sh", "a", { mode: 0o755 });
    const fs = new OverlayFileSystem(base);
    await fs.writeFile("run.sh", "b");
    await fs.rename("run.sh", "go.sh");
    await fs.commit();
    expect(await base.stat("go.sh")).toMatchObject({ mode: 0o755, size: 1 });
  });

  it("commits nothing where the base was changed meanwhile", async () => {
    const cases: [
      name: string,
      here: (fs: FileSystem) => Promise<unknown>,
      there: (fs: FileSystem) => Promise<unknown>,
    ][] = [
      ["changed", (fs) => fs.writeFile("a", "A"), (fs) => fs.writeFile("a", "other")],
      ["changed", (fs) => fs.writeFile("a", "A"), (fs) => fs.remove("a")],
      ["changed", (fs) => fs.remove("a"), (fs) => fs.writeFile("a", "other")],
      ["exists", (fs) => fs.writeFile("n", "A"), (fs) => fs.writeFile("n", "other")],
      ["changed", (fs) => fs.remove("d", { recursive: true }), (fs) => fs.writeFile("d/late", "x")],
      ["changed", (fs) => fs.rename("d", "e"), (fs) => fs.writeFile("d/b", "other")],
    ];
    for (const [reason, here, there] of cases) {
      const base = new MemoryFileSystem({ a: "a", "d/b": "b", z: "z" });
      const fs = new OverlayFileSystem(base);
      await fs.writeFile("0first", "f");
      await here(fs);
      await there(base);
      const before = await tree(base);
      expect(await refusal(fs.commit())).toBe(reason);
      expect(await tree(base)).toEqual(before);
    }
  });

  it("takes back all that it can when taking back fails too, and tells of both", async () => {
    const base = new MemoryFileSystem({ a: "a", b: "b", c: "c", d: "d" });
    const write = base.writeFile.bind(base);
    let writes = 0;
    base.writeFile = async (path, data, options) => {
      writes++;
      if (writes === 4) throw new FsError("noSpace", path, "The disk is full.");
      if (writes === 5) throw new Error("Still full.");
      return write(path, data, options);
    };
    const fs = new OverlayFileSystem(base);
    for (const path of ["a", "b", "c", "d"]) await fs.writeFile(path, path.toUpperCase());
    const error = await fs.commit().catch((fault: unknown) => fault);
    expect(isFsError(error, "io")).toBe(true);
    expect(String(error)).toContain("The disk is full. Not all that was done before could be taken back: Still full.");
    expect(await tree(base)).toEqual({ a: "file a", b: "file b", c: "file C", d: "file d" });
  });

  it("has made its changes where only what was removed cannot be deleted, and says where that is", async () => {
    const base = new MemoryFileSystem({ "old/x": "x", "older/y": "y", a: "a" });
    const remove = base.remove.bind(base);
    base.remove = async (path, options) => {
      if (path === ".shedkit-removed-0") throw new FsError("permission", path, "No permission.");
      return remove(path, options);
    };
    const fs = new OverlayFileSystem(base);
    await fs.remove("old", { recursive: true });
    await fs.remove("older", { recursive: true });
    await fs.writeFile("a", "A");
    const error = await fs.commit().catch((fault: unknown) => fault);
    expect(String(error)).toContain(
      'All changes were made, but what was removed could not be deleted, and lies in ".shedkit',
    );
    expect(await fs.diff()).toEqual([]);
    expect(await tree(base)).toEqual({
      a: "file A",
      ".shedkit-removed-0": "folder",
      ".shedkit-removed-0/x": "file x",
    });
  });

  it("takes everything back when a commit fails half way", async () => {
    for (let failing = 0; failing < 6; failing++) {
      const base = new MemoryFileSystem({ a: "a", b: "b", "d/c": "c", "e/f": "f" });
      await base.symlink("a", "link");
      let left = failing;
      const broken = new Proxy(base, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if ((key === "writeFile" || key === "mkdir") && left-- === 0) {
              throw new FsError("noSpace", "x", "no space is left");
            }
            return (value as (...args: unknown[]) => unknown).apply(target, args);
          };
        },
      });
      const fs = new OverlayFileSystem(broken);
      await fs.writeFile("a", "A");
      await fs.remove("b");
      await fs.rename("d", "moved");
      await fs.remove("link");
      await fs.writeFile("new", "n");
      await fs.remove("e", { recursive: true });
      await fs.writeFile("e", "now a file");
      const before = await tree(base);
      const refused = await fs.commit().then(
        () => false,
        (error: unknown) => isFsError(error, "noSpace"),
      );
      expect([failing, refused]).toEqual([failing, failing < 5]);
      if (refused) expect(await tree(base)).toEqual(before);
      else expect(await tree(base)).toEqual(await tree(fs));
    }
  });

  it("does as the file system itself would have done, whatever is asked of it", async () => {
    const path = fc.constantFrom("a", "b", "d", "d/a", "d/b", "d/e", "d/e/f", "new", "new/x");
    const step = fc.oneof(
      fc.tuple(fc.constant("write"), path, path),
      fc.tuple(fc.constant("mkdir"), path, path),
      fc.tuple(fc.constant("remove"), path, path),
      fc.tuple(fc.constant("rename"), path, path),
      fc.tuple(fc.constant("replace"), path, path),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 14 }),
        fc.integer({ min: 0, max: 14 }),
        async (steps, commitAfter) => {
          const files = { a: "1", "d/a": "2", "d/e/f": "3" };
          const plain = new MemoryFileSystem(files);
          const base = new MemoryFileSystem(files);
          const fs = new OverlayFileSystem(base);
          const run = (on: FileSystem, [what, from, to]: [string, string, string], n: number): Promise<unknown> => {
            if (what === "write") return on.writeFile(from, `w${n}`);
            if (what === "mkdir") return on.mkdir(from, { recursive: n % 2 === 0 });
            if (what === "remove") return on.remove(from, { recursive: n % 2 === 0 });
            return on.rename(from, to, { overwrite: what === "replace" });
          };
          const outcome = (work: Promise<unknown>) =>
            work.then(
              () => "done",
              (error: unknown) => (isFsError(error) ? error.reason : String(error)),
            );
          for (const [n, each] of steps.entries()) {
            expect([n, each, await outcome(run(fs, each, n))]).toEqual([n, each, await outcome(run(plain, each, n))]);
            expect(await tree(fs)).toEqual(await tree(plain));
            if (n === commitAfter) await fs.commit();
          }
          await fs.commit();
          expect(await tree(base)).toEqual(await tree(plain));
        },
      ),
      { numRuns: 200 },
    );
  });
});
