import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { isFsError } from "../src/index.js";
import { NodeFileSystem } from "../src/node.js";
import { describeFileSystem, refusal } from "./conformance.js";

/** Swaps the folder `d` for a link to the outside and back, thousands of times a second. */
const SWAP = `
  const { renameSync } = require("node:fs");
  const { parentPort, workerData: root } = require("node:worker_threads");
  const move = (from, to) => renameSync(root + "/" + from, root + "/" + to);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; ; round++) {
    if (round === 1) parentPort.postMessage("swapping");
    move("d", "kept");
    move("trap", "d");
    move("d", "trap");
    move("kept", "d");
    if (round % 3 === 0) Atomics.wait(pause, 0, 0, 0.1);
  }`;

const PROC = existsSync("/proc/self/fd"); // Linux
const MKFIFO = "mkfifo"; // POSIX
const made: string[] = [];
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
});

async function folders(): Promise<{ root: string; outside: string }> {
  const top = await mkdtemp(join(tmpdir(), "shedkit-fs-"));
  made.push(top);
  const root = join(top, "root");
  const outside = join(top, "outside");
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, "secret.txt"), "secret");
  return { root, outside };
}

describeFileSystem("NodeFileSystem", async () => {
  const { root, outside } = await folders();
  return {
    fs: new NodeFileSystem(root),
    symlink: (target, path) => symlink(target, join(root, path)),
    chmod: (path, mode) => chmod(join(root, path), mode),
    outside,
  };
});

describe("NodeFileSystem", () => {
  it("refuses a root that does not exist", () => {
    expect(() => new NodeFileSystem("/nowhere/at/all")).toThrow(/root folder "\/nowhere\/at\/all" does not exist/);
  });

  it("takes absolute paths through the root's link and through its real path", async () => {
    const { root, outside } = await folders();
    await writeFile(join(root, "a"), "a");
    await symlink(root, join(outside, "rootlink"));
    const fs = new NodeFileSystem(join(outside, "rootlink"));
    expect(fs.root).toBe(join(outside, "rootlink"));
    expect(fs.resolve(join(root, "a"))).toBe("a");
    expect(fs.resolve(join(outside, "rootlink", "a"))).toBe("a");
    expect((await fs.stat(join(root, "a"))).size).toBe(1);
  });

  it("leaves no temporary file, also where a write is refused or aborted", async () => {
    const { root } = await folders();
    const fs = new NodeFileSystem(root);
    const { version } = await fs.writeFile("a", "one");
    await writeFile(join(root, "a"), "changed");
    expect(await refusal(fs.writeFile("a", "x", { ifVersion: version }))).toBe("changed");
    const controller = new AbortController();
    const writing = fs.writeFile("a", new Uint8Array(64 << 20), { signal: controller.signal });
    setImmediate(() => controller.abort());
    await writing.catch(() => undefined);
    expect(await readdir(root)).toEqual(["a"]);
  });

  it("never shows a half-written file to a reader", async () => {
    const { root } = await folders();
    const fs = new NodeFileSystem(root);
    const contents = ["a", "b"].map((c) => c.repeat(300_000));
    await fs.writeFile("f", contents[0] ?? "");
    let done = false;
    const writing = (async () => {
      for (let i = 0; i < 20; i++) await fs.writeFile("f", contents[i % 2] ?? "");
      done = true;
    })();
    while (!done) expect(contents).toContain(await readFile(join(root, "f"), "utf8"));
    await writing;
  });

  it("refuses pipes and devices instead of waiting for them", async () => {
    const { root } = await folders();
    execFileSync(MKFIFO, [join(root, "pipe")]);
    const fs = new NodeFileSystem(root);
    expect((await fs.stat("pipe")).type).toBe("other");
    expect(await refusal(fs.readFile("pipe"))).toBe("notAFile");
    expect(await refusal(fs.writeFile("pipe", "x"))).toBe("notAFile");
  });

  it.skipIf(!PROC)("is not led out by the links of /proc and /dev", async () => {
    const { root } = await folders();
    const links = [
      "/proc/self/root",
      "/proc/self/cwd",
      "/proc/self/fd",
      "/proc/self/environ",
      "/dev/fd/0",
      "/dev/zero",
      "/dev/stdin",
    ];
    const fs = new NodeFileSystem(root);
    for (const [i, link] of links.entries()) {
      await symlink(link, join(root, `l${i}`));
      for (const path of [`l${i}`, `l${i}/etc/passwd`]) {
        expect([link, await refusal(fs.readFile(path))]).toEqual([
          link,
          expect.stringMatching(/outside|notADirectory|notFound/),
        ]);
        expect(await refusal(fs.writeFile(path, "x"))).toMatch(/outside|notADirectory|notFound/);
        expect(await refusal(fs.readdir(path))).toMatch(/outside|notADirectory|notFound/);
      }
    }
    for (const path of ["/proc/self/environ", "/proc/self/cwd/x", `${root}/../../../../../../proc/self/environ`]) {
      expect(await refusal(fs.readFile(path))).toBe("outside");
    }
  });

  it("writes a new file beside other names of the old one", async () => {
    const { root, outside } = await folders();
    await link(join(outside, "secret.txt"), join(root, "hard"));
    await new NodeFileSystem(root).writeFile("hard", "mine");
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  it.skipIf(process.getuid?.() === 0)("refuses a file it may not write, though its folder would allow it", async () => {
    const { root } = await folders();
    await writeFile(join(root, "a"), "a", { mode: 0o444 });
    expect(await refusal(new NodeFileSystem(root).writeFile("a", "b"))).toBe("permission");
  });

  it.skipIf(!PROC)("stays inside while folders are swapped for links under it", async () => {
    const { root, outside } = await folders();
    await mkdir(join(root, "inside"));
    await writeFile(join(root, "inside", "secret.txt"), "inside");
    await symlink(outside, join(root, "trap"));
    await rename(join(root, "inside"), join(root, "d"));
    const swapper = new Worker(SWAP, { eval: true, workerData: root });
    await once(swapper, "message");
    const fs = new NodeFileSystem(root);
    const seen = { read: 0, refused: 0 };
    const attempt = async (work: Promise<unknown>) => {
      try {
        const value = await work;
        if (value instanceof Uint8Array) expect(new TextDecoder().decode(value)).not.toBe("secret");
        seen.read++;
      } catch (error) {
        if (!isFsError(error)) throw error;
        seen.refused++;
      }
    };
    for (let i = 0; i < 120; i++) {
      await attempt(fs.readFile("d/secret.txt"));
      await attempt(fs.writeFile(`d/w${i % 7}`, "w"));
      await attempt(fs.mkdir(`d/m${i % 7}`));
      await attempt(fs.remove(`d/w${i % 7}`));
      await attempt(fs.remove(`d/m${i % 7}`, { recursive: true }));
    }
    await swapper.terminate();
    expect(seen.read).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
    expect(await readdir(outside)).toEqual(["secret.txt"]);
  });

  it.skipIf(!PROC)("is not led out by what /proc and /dev make of a link", async () => {
    const { root, outside } = await folders();
    const held = await openFile(join(outside, "secret.txt"), "r+");
    const links = [
      `/proc/self/fd/${held.fd}`,
      `/dev/fd/${held.fd}`,
      "/proc/self/root",
      "/proc/self/cwd",
      "/proc/1/root",
    ];
    const fs = new NodeFileSystem(root);
    for (const [i, link] of links.entries()) {
      await symlink(link, join(root, `l${i}`));
      const below = join(`l${i}`, outside, "secret.txt");
      for (const path of [`l${i}`, below]) {
        const calls = [
          () => fs.readFile(path),
          () => fs.writeFile(path, "x"),
          () => fs.readdir(path),
          () => fs.mkdir(`${path}/x`),
        ];
        for (const call of calls) expect(await refusal(call())).toMatch(/outside|notFound|notADirectory|permission/);
      }
    }
    await held.close();
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret");
    expect(await readdir(outside)).toEqual(["secret.txt"]);
  });

  it("removes nothing outside through a link in a folder that it removes", async () => {
    const { root, outside } = await folders();
    await mkdir(join(root, "a/b"), { recursive: true });
    await symlink(outside, join(root, "a/b/out"));
    await new NodeFileSystem(root).remove("a", { recursive: true });
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    await expect(lstat(join(root, "a"))).rejects.toThrow("ENOENT");
  });

  it.skipIf(!PROC)("closes what it opened, when the reader leaves early too", async () => {
    const { root } = await folders();
    await writeFile(join(root, "big"), new Uint8Array(1_000_000));
    const fs = new NodeFileSystem(root);
    const open = async () => (await readdir("/proc/self/fd")).length;
    const before = await open();
    for (let i = 0; i < 20; i++) {
      for await (const _ of fs.readChunks("big")) break;
      await fs.readdir(".");
      await fs.readFile("nope").catch(() => undefined);
      await fs.writeFile("w", "w");
    }
    expect(await open()).toBeLessThanOrEqual(before + 1);
  });
});
