import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it; one that is there already is fine. Node's own `recursive` is not used: it never
 * ends where the system says that there can be no such folder, under `/proc` say.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (await isFolder(path)) return;
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || above === path) throw error;
    await makeFolder(above);
    await mkdir(path).catch(async (again: unknown) => {
      if (!(await isFolder(path))) throw again; // else someone else has made it meanwhile
    });
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
