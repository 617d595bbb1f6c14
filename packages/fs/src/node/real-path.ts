import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";

const MAX_LINKS = 40; // as Linux

/**
 * Where an absolute path leads with symbolic links followed, as far as it is there: also for a file that is to be written, and
 * through a link to nothing. Rejects with the system's error where that cannot be told: a circle of links, a folder that may
 * not be looked into, `..` after what is not there.
 */
export async function realPathOf(path: string): Promise<string> {
  return follow(path, MAX_LINKS);
}

async function follow(path: string, links: number): Promise<string> {
  const fault = await realpath(path).catch((error: NodeJS.ErrnoException) => error);
  if (typeof fault === "string") return fault;
  const [folder, name] = [dirname(path), basename(path)];
  if (!/^ENO(?:ENT|TDIR)$/.test(fault.code ?? "") || name === ".." || folder === path || links === 0) throw fault;
  const target = await readlink(path).catch(() => undefined);
  // Put together as it stands: `..` after a link is beside what the link leads to.
  if (target !== undefined) return follow(isAbsolute(target) ? target : folder + sep + target, links - 1);
  return join(await follow(folder, links), name);
}
