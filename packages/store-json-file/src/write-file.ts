import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file whole or not at all; it is on the disk when this resolves. */
export async function replaceFile(path: string, text: string, temporary: string): Promise<void> {
  try {
    const file = await open(temporary, "w");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Names that were made or moved in a folder are on the disk when this resolves, where the system can do that. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined); // Windows opens no folder, and keeps names by itself
  try {
    await folder?.sync().catch(() => {});
  } finally {
    await folder?.close();
  }
}

/** Whether an error says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === "ENOENT";
}
