import { type FileSystem, isFsError, parentOf } from "@shedkit/fs";
import type { StateFile } from "./state-keeper.js";

/** A file name for a session: no two sessions share one, and none leads out of its folder. */
export function stateFileName(session: string): string {
  const clean = session.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80);
  return `${clean}-${hash(new TextEncoder().encode(session))}.json`;
}

/**
 * Keeps memories in a file, which is replaced whole at each write; its folder is made where it is missing. A copy of a file
 * that could not be understood stands beside it. Throws FsError where the path leads out
 * of the root; reading and writing rejects with it, e.g. where a folder stands there.
 */
export function stateFile(fs: FileSystem, path: string): StateFile {
  const at = fs.resolve(path);
  return {
    async read() {
      try {
        return new TextDecoder().decode(await fs.readFile(at));
      } catch (fault) {
        if (isFsError(fault, "notFound")) return undefined;
        throw fault;
      }
    },
    async write(text) {
      await fs.mkdir(parentOf(at), { recursive: true });
      await fs.writeFile(at, text);
    },
    async setAside() {
      const bytes = await fs.readFile(at);
      const copy = `${at}.${hash(bytes)}.bak`; // the same content has the same name: none is ever written over
      await fs.writeFile(copy, bytes);
      return copy;
    },
  };
}

/** FNV-1a, 64 bits. */
function hash(bytes: Uint8Array): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of bytes) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(36);
}
