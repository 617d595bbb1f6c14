import { randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { constants } from "node:fs";
import { access, link, lstat, open, rename, unlink } from "node:fs/promises";
import type { FileStat, WriteOptions } from "../contract.js";
import { FsError } from "../error.js";
import { quote } from "../path.js";
import { type Guard, ignoreMissing } from "./guard.js";
import { statOf } from "./stat.js";

/** Replaces a file whole: a temporary file beside it, flushed to the disk, takes its name. */
export async function writeAtomic(
  guard: Guard,
  path: string,
  data: Uint8Array | string,
  options: WriteOptions,
): Promise<FileStat> {
  const { folder, name } = await guard.target(path);
  return guard.within(folder, path, async (base) => {
    const target = `${base}/${name}`;
    const before = await existing(target, path);
    checkVersion(before, path, options);
    if (before) await access(target, constants.W_OK);
    options.signal?.throwIfAborted();
    const temporary = `${base}/.shedkit-${randomUUID()}.tmp`;
    try {
      await writeNew(temporary, data, before, options);
      options.signal?.throwIfAborted();
      checkVersion(await existing(target, path), path, options);
      if (options.ifVersion === null) await linkNew(temporary, target);
      else await rename(temporary, target);
    } catch (error) {
      await unlink(temporary).catch(ignoreMissing);
      throw error;
    }
    return statOf(await lstat(target, { bigint: true }));
  });
}

async function existing(target: string, path: string): Promise<BigIntStats | undefined> {
  const stat = await lstat(target, { bigint: true }).catch(ignoreMissing);
  if (stat?.isDirectory()) throw new FsError("isADirectory", path, `${quote(path)} is a folder, not a file.`);
  if (stat && !stat.isFile()) {
    throw new FsError("notAFile", path, `${quote(path)} is not a regular file (a pipe, a device or a link).`);
  }
  return stat;
}

function checkVersion(stat: BigIntStats | undefined, path: string, { ifVersion }: WriteOptions): void {
  if (ifVersion === undefined) return;
  if (ifVersion === null) {
    if (stat) throw new FsError("exists", path, `${quote(path)} exists already.`);
  } else if (!stat || statOf(stat).version !== ifVersion) {
    throw new FsError("changed", path, `${quote(path)} was ${stat ? "changed" : "removed"} meanwhile.`);
  }
}

async function writeNew(
  temporary: string,
  data: Uint8Array | string,
  before: BigIntStats | undefined,
  { mode, signal }: WriteOptions,
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const handle = await open(temporary, flags, before ? 0o600 : (mode ?? 0o666));
  try {
    await handle.writeFile(data, signal ? { signal } : undefined);
    if (before) {
      const made = await handle.stat({ bigint: true });
      if (made.uid !== before.uid || made.gid !== before.gid) {
        // Only root may give files away; for others the file becomes theirs.
        await handle.chown(Number(before.uid), Number(before.gid)).catch(() => undefined);
      }
      await handle.chmod(Number(before.mode) & 0o7777);
    } else if (mode !== undefined) await handle.chmod(mode & 0o7777);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives the file its name only if nobody else took it. */
async function linkNew(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
    return rename(temporary, target); // a file system without hard links: the check before has to do
  }
  await unlink(temporary);
}
