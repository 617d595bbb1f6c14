import { describe, expect, it } from "vitest";
import type { FileSystem, FsErrorReason } from "../src/index.js";
import { isFsError } from "../src/index.js";

export interface Subject {
  fs: FileSystem;
  /** Makes a symbolic link, past every guard. */
  symlink(target: string, path: string): Promise<void>;
  /** Sets permission bits, past every guard. */
  chmod(path: string, mode: number): Promise<void>;
  /** A folder outside the root that has `secret.txt` in it, as an absolute path. */
  outside: string;
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Resolves to the reason a call was refused with. */
export async function refusal(promise: Promise<unknown>): Promise<FsErrorReason> {
  const error: unknown = await promise.then(
    (value) => new Error(`not refused, gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!isFsError(error)) throw error;
  expect(error.message).toMatch(/\S/);
  return error.reason;
}

/** What holds for every file system. */
export function describeFileSystem(name: string, make: () => Promise<Subject>): void {
  const fresh = make;

  describe(name, () => {
    it("reads back what was written, by relative and by absolute path", async () => {
      const { fs } = await fresh();
      await fs.writeFile("a.txt", "grüße 🌍\r\n");
      expect(text(await fs.readFile("a.txt"))).toBe("grüße 🌍\r\n");
      expect(text(await fs.readFile(`${fs.root}/a.txt`))).toBe("grüße 🌍\r\n");
      expect(text(await fs.readFile("./x/../a.txt"))).toBe("grüße 🌍\r\n");
    });

    it("keeps bytes that are no text", async () => {
      const { fs } = await fresh();
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
      await fs.writeFile("b", bytes);
      bytes.fill(0);
      expect([...(await fs.readFile("b"))]).toEqual(Array.from({ length: 256 }, (_, i) => i));
    });

    it("reads ranges, cut to what is there", async () => {
      const { fs } = await fresh();
      await fs.writeFile("a", "0123456789");
      expect(text(await fs.readFile("a", { start: 2, end: 5 }))).toBe("234");
      expect(text(await fs.readFile("a", { start: 8, end: 50 }))).toBe("89");
      expect(text(await fs.readFile("a", { start: 50 }))).toBe("");
      expect(text(await fs.readFile("a", { start: 5, end: 2 }))).toBe("");
      expect(text(await fs.readFile("a", { start: -3, end: 2 }))).toBe("01");
    });

    it("reads large files in pieces, from the file that was opened", async () => {
      const { fs } = await fresh();
      const size = 700_000;
      await fs.writeFile("big", new Uint8Array(size).fill(7));
      const sizes: number[] = [];
      for await (const piece of fs.readChunks("big")) {
        if (sizes.length === 0) await fs.writeFile("big", new Uint8Array(size).fill(9));
        expect(piece.every((byte) => byte === 7)).toBe(true);
        sizes.push(piece.length);
      }
      expect(sizes).toEqual([262_144, 262_144, 175_712]);
      const tail: number[] = [];
      for await (const piece of fs.readChunks("big", { start: size - 10, end: size - 4 })) tail.push(piece.length);
      expect(tail).toEqual([6]);
    });

    it("reads an empty file as no bytes", async () => {
      const { fs } = await fresh();
      await fs.writeFile("empty", "");
      expect(await fs.readFile("empty")).toHaveLength(0);
      for await (const _ of fs.readChunks("empty")) expect.unreachable();
      expect((await fs.stat("empty")).size).toBe(0);
    });

    it("tells type, size and a version that changes with the content", async () => {
      const { fs } = await fresh();
      const first = await fs.writeFile("a", "one");
      expect(first).toMatchObject({ type: "file", size: 3 });
      expect(await fs.stat("a")).toEqual(first);
      const second = await fs.writeFile("a", "two");
      expect(second.version).not.toBe(first.version);
      expect((await fs.stat(".")).type).toBe("directory");
      expect((await fs.lstat(".")).type).toBe("directory");
    });

    it("keeps the mode of a file that it overwrites, and gives a new one the mode asked for", async () => {
      const { fs, chmod } = await fresh();
      await fs.writeFile("run.sh", "a");
      await chmod("run.sh", 0o750);
      await fs.writeFile("run.sh", "b");
      expect((await fs.stat("run.sh")).mode).toBe(0o750);
      await fs.writeFile("new.sh", "b", { mode: 0o700 });
      expect((await fs.stat("new.sh")).mode).toBe(0o700);
    });

    it("writes only over the version named, or only a new file", async () => {
      const { fs } = await fresh();
      const { version } = await fs.writeFile("a", "one", { ifVersion: null });
      expect(await refusal(fs.writeFile("a", "x", { ifVersion: null }))).toBe("exists");
      const next = await fs.writeFile("a", "two", { ifVersion: version });
      expect(await refusal(fs.writeFile("a", "x", { ifVersion: version }))).toBe("changed");
      await fs.remove("a");
      expect(await refusal(fs.writeFile("a", "x", { ifVersion: next.version }))).toBe("changed");
      expect(await fs.readdir(".")).toEqual([]);
    });

    it("lets one of two writers of a new file win", async () => {
      const { fs } = await fresh();
      const both = await Promise.allSettled(["a", "b"].map((c) => fs.writeFile("x", c, { ifVersion: null })));
      expect(both.map((r) => r.status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await fs.readdir(".")).toHaveLength(1);
    });

    it("lists a folder by name, with types, the entries that begin with a dot too", async () => {
      const { fs, symlink } = await fresh();
      await fs.mkdir("b");
      await fs.writeFile("b/deep", "");
      await fs.writeFile("a", "");
      await fs.writeFile(".c", "");
      await fs.writeFile("Z", "");
      await symlink("a", "link");
      expect(await fs.readdir(".")).toEqual([
        { name: ".c", type: "file" },
        { name: "Z", type: "file" },
        { name: "a", type: "file" },
        { name: "b", type: "directory" },
        { name: "link", type: "symlink" },
      ]);
      expect(await fs.readdir("b")).toEqual([{ name: "deep", type: "file" }]);
    });

    it("makes folders, with their parents when asked", async () => {
      const { fs } = await fresh();
      await fs.mkdir("a");
      expect(await refusal(fs.mkdir("a"))).toBe("exists");
      expect(await refusal(fs.mkdir("."))).toBe("exists");
      expect(await refusal(fs.mkdir("x/y"))).toBe("notFound");
      await fs.mkdir("x/y/z", { recursive: true });
      await fs.mkdir("x/y/z", { recursive: true });
      await fs.mkdir(".", { recursive: true });
      expect((await fs.stat("x/y/z")).type).toBe("directory");
      await fs.writeFile("file", "");
      expect(await refusal(fs.mkdir("file", { recursive: true }))).toBe("notADirectory");
      expect(await refusal(fs.mkdir("file/sub", { recursive: true }))).toBe("notADirectory");
      await Promise.all(Array.from({ length: 5 }, () => fs.mkdir("at/once/deep", { recursive: true })));
    });

    it("says what is wrong with a path that cannot be used as asked", async () => {
      const { fs } = await fresh();
      await fs.mkdir("dir");
      await fs.writeFile("dir/file", "x");
      expect(await refusal(fs.readFile("nope"))).toBe("notFound");
      expect(await refusal(fs.stat("nope/x"))).toBe("notFound");
      expect(await refusal(fs.lstat("nope"))).toBe("notFound");
      expect(await refusal(fs.realpath("nope"))).toBe("notFound");
      expect(await refusal(fs.readdir("nope"))).toBe("notFound");
      expect(await refusal(fs.remove("nope"))).toBe("notFound");
      expect(await refusal(fs.rename("nope", "x"))).toBe("notFound");
      expect(await refusal(fs.writeFile("nope/x", ""))).toBe("notFound");
      expect(await refusal(fs.readFile("dir"))).toBe("isADirectory");
      expect(await refusal(fs.writeFile("dir", ""))).toBe("isADirectory");
      expect(await refusal(fs.writeFile(".", ""))).toMatch(/isADirectory|invalidPath/);
      expect(await refusal(fs.readdir("dir/file"))).toBe("notADirectory");
      for (const call of [
        () => fs.readFile("dir/file/x"),
        () => fs.stat("dir/file/x"),
        () => fs.writeFile("dir/file/x", ""),
        () => fs.mkdir("dir/file/x"),
        () => fs.remove("dir/file/x/y"),
      ]) {
        await expect(call()).rejects.toThrow('"dir/file" is a file, not a folder');
      }
      expect(await refusal(fs.remove("dir"))).toBe("notEmpty");
      expect(await refusal(fs.remove("."))).toBe("invalidPath");
      expect(await refusal(fs.rename(".", "x"))).toBe("invalidPath");
    });

    it("moves files and folders, and overwrites only when told to, and only files", async () => {
      const { fs } = await fresh();
      await fs.mkdir("dir/sub", { recursive: true });
      await fs.writeFile("dir/sub/f", "f");
      await fs.writeFile("other", "o");
      await fs.rename("dir", "moved");
      expect(text(await fs.readFile("moved/sub/f"))).toBe("f");
      expect(await refusal(fs.rename("other", "moved/sub/f"))).toBe("exists");
      await fs.rename("other", "moved/sub/f", { overwrite: true });
      expect(text(await fs.readFile("moved/sub/f"))).toBe("o");
      await fs.writeFile("x", "");
      expect(await refusal(fs.rename("x", "moved", { overwrite: true }))).toBe("exists");
      expect(await refusal(fs.rename("moved", "x", { overwrite: true }))).toBe("notADirectory");
      expect(await refusal(fs.rename("moved", "moved/sub/in"))).toBe("invalidPath");
      expect(await refusal(fs.rename("x", "gone/x"))).toBe("notFound");
    });

    it("removes files, and folders with what is in them when asked", async () => {
      const { fs, symlink, outside } = await fresh();
      await fs.mkdir("a/b/c", { recursive: true });
      await fs.writeFile("a/b/c/f", "");
      await fs.mkdir("empty");
      await fs.writeFile("keep", "k");
      await symlink("../keep", "a/link");
      await symlink(outside, "a/b/out");
      await fs.remove("empty");
      await fs.remove("a", { recursive: true });
      expect(await fs.readdir(".")).toEqual([{ name: "keep", type: "file" }]);
    });

    it("follows links that stay inside, and writes through them", async () => {
      const { fs, symlink } = await fresh();
      await fs.mkdir("real/deep", { recursive: true });
      await fs.writeFile("real/f", "f");
      await symlink("real", "dirlink");
      await symlink("dirlink/f", "filelink");
      await symlink(`${fs.root}/real/f`, "abslink");
      await symlink("deep/../f", "real/odd");
      expect(text(await fs.readFile("filelink"))).toBe("f");
      expect(text(await fs.readFile("abslink"))).toBe("f");
      expect(text(await fs.readFile("real/odd"))).toBe("f");
      expect(await fs.realpath("dirlink/f")).toBe("real/f");
      expect(await fs.realpath(".")).toBe(".");
      expect((await fs.stat("dirlink")).type).toBe("directory");
      expect((await fs.lstat("dirlink")).type).toBe("symlink");
      await fs.writeFile("filelink", "new");
      expect(text(await fs.readFile("real/f"))).toBe("new");
      expect((await fs.lstat("filelink")).type).toBe("symlink");
      await fs.mkdir("dirlink/made", { recursive: true });
      expect((await fs.stat("real/made")).type).toBe("directory");
      await fs.remove("dirlink");
      expect(text(await fs.readFile("real/f"))).toBe("new");
    });

    it("refuses links to nothing and links in a circle", async () => {
      const { fs, symlink } = await fresh();
      await symlink("nothing", "dangling");
      await symlink("loop2", "loop1");
      await symlink("loop1", "loop2");
      expect(await refusal(fs.readFile("dangling"))).toBe("notFound");
      expect(await refusal(fs.writeFile("dangling", "x"))).toBe("notFound");
      expect(await refusal(fs.mkdir("dangling", { recursive: true }))).toBe("notADirectory");
      expect(await refusal(fs.readFile("loop1"))).toBe("invalidPath");
      expect(await refusal(fs.writeFile("loop1", "x"))).toBe("invalidPath");
      expect((await fs.lstat("loop1")).type).toBe("symlink");
    });

    it("reaches nothing outside its root", async () => {
      const { fs, symlink, outside } = await fresh();
      await symlink(outside, "out");
      await symlink(`${outside}/secret.txt`, "secret");
      await symlink(`${outside}/new.txt`, "newlink");
      await symlink("../../../../../../../../etc", "up");
      const escapes = ["../x", "a/../../x", "/etc/passwd", `${outside}/secret.txt`, `${fs.root}/../x`, `${fs.root}x`];
      for (const path of [...escapes, "out/secret.txt", "secret", "out", "up/passwd"]) {
        expect([path, await refusal(fs.readFile(path))]).toEqual([path, "outside"]);
        expect([path, await refusal(fs.stat(path))]).toEqual([path, "outside"]);
        expect([path, await refusal(fs.writeFile(path, "x"))]).toEqual([path, "outside"]);
      }
      for (const path of [...escapes, "out/x"]) {
        expect(await refusal(fs.lstat(path))).toBe("outside");
        expect(await refusal(fs.mkdir(path, { recursive: true }))).toBe("outside");
        expect(await refusal(fs.remove(path))).toBe("outside");
        expect(await refusal(fs.rename(path, "here"))).toBe("outside");
      }
      await fs.writeFile("a", "a");
      expect(await refusal(fs.rename("a", "out/a"))).toBe("outside");
      expect(await refusal(fs.readdir("out"))).toBe("outside");
      expect(await refusal(fs.realpath("out"))).toBe("outside");
      expect(await refusal(fs.writeFile("newlink", "x"))).toMatch(/outside|notFound/);
      expect((await fs.lstat("out")).type).toBe("symlink");
    });

    it("refuses paths that no file can have", async () => {
      const { fs } = await fresh();
      expect(await refusal(fs.readFile("a\0b"))).toBe("invalidPath");
      expect(await refusal(fs.writeFile("a\ud800", ""))).toBe("invalidPath");
      expect(await refusal(fs.writeFile("n".repeat(256), ""))).toBe("nameTooLong");
      expect(await refusal(fs.writeFile("ü".repeat(128), ""))).toBe("nameTooLong");
      expect(await refusal(fs.readFile(Array(2100).fill("ab").join("/")))).toBe("nameTooLong");
      await fs.writeFile("n".repeat(255), "long");
      expect(text(await fs.readFile("n".repeat(255)))).toBe("long");
    });

    it("stops when the signal aborts", async () => {
      const { fs } = await fresh();
      await fs.writeFile("a", new Uint8Array(600_000));
      const reason = new Error("enough");
      const signal = AbortSignal.abort(reason);
      for (const call of [
        () => fs.readFile("a", { signal }),
        () => fs.stat("a", { signal }),
        () => fs.lstat("a", { signal }),
        () => fs.realpath("a", { signal }),
        () => fs.writeFile("b", "", { signal }),
        () => fs.mkdir("c", { signal }),
        () => fs.readdir(".", { signal }),
        () => fs.rename("a", "d", { signal }),
        () => fs.remove("a", { signal }),
      ]) {
        await expect(call()).rejects.toBe(reason);
      }
      const controller = new AbortController();
      const reading = async () => {
        for await (const _ of fs.readChunks("a", { signal: controller.signal })) controller.abort(reason);
      };
      await expect(reading()).rejects.toBe(reason);
      expect(await fs.readdir(".")).toEqual([{ name: "a", type: "file" }]);
    });
  });
}
