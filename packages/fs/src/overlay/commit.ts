import type { FileSystem, FsOptions } from "../contract.js";
import { FsError, isFsError } from "../error.js";
import { joinPath, parentOf, quote } from "../path.js";
import { checkUnchanged, type NewFile, type Over } from "./tree.js";

/** Something that is to happen to one path of the base. */
interface Step {
  path: string;
  over: Exclude<Over, { type: "passed" }>;
}

/** What was done, the other way round. */
type Undo = () => Promise<unknown>;

interface Work {
  data: ReadonlyMap<NewFile, Uint8Array>;
  undo: Undo[];
  /** What was moved out of the way. */
  aside: string[];
}

/**
 * Puts what is laid over a base into it: all of it, or after a failure nothing. Gives an error where all was done, but
 * something that was moved out of the way could not be deleted.
 */
export async function commitTree(base: FileSystem, root: Over, options: FsOptions): Promise<FsError | undefined> {
  const steps = stepsOf(root, ".");
  for (const { path, over } of steps) await checkUnchanged(base, path, over.was, options);
  // Read first: a file may have moved from a place that is removed.
  const data = new Map<NewFile, Uint8Array>();
  for (const { over } of steps) await load(base, over, data, options);
  const undo: Undo[] = [];
  const aside: string[] = [];
  try {
    for (const step of steps) {
      options.signal?.throwIfAborted();
      await apply(base, step, { data, undo, aside });
    }
  } catch (error) {
    const failed: unknown[] = [];
    for (const back of undo.reverse()) await back().catch((fault: unknown) => failed.push(fault));
    if (failed.length === 0) throw error;
    const text = `${textOf(error)} Not all that was done before could be taken back: ${failed.map(textOf).join(" ")}`;
    throw new FsError("io", ".", text, error);
  }
  return removeAll(base, aside);
}

/** Deletes what was moved out of the way. What cannot be deleted stays where it is. */
async function removeAll(base: FileSystem, aside: readonly string[]): Promise<FsError | undefined> {
  let error: FsError | undefined;
  for (const path of aside) {
    await base.remove(path, { recursive: true }).catch((fault: unknown) => {
      const text = `All changes were made, but what was removed could not be deleted, and lies in ${quote(path)}. ${textOf(fault)}`;
      error = new FsError("io", path, text, fault);
    });
  }
  return error;
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

/** The bytes of a file that is laid over the base. */
export async function bytesOf(base: FileSystem, file: NewFile, options?: FsOptions): Promise<Uint8Array> {
  return file.data instanceof Uint8Array ? file.data : base.readFile(file.data.base, options);
}

function stepsOf(over: Over, path: string): Step[] {
  if (over.type !== "passed") return [{ path, over }];
  return [...over.children].flatMap(([name, child]) => stepsOf(child, joinPath(path, name)));
}

async function load(base: FileSystem, over: Over, data: Map<NewFile, Uint8Array>, options: FsOptions): Promise<void> {
  if (over.type === "file") data.set(over, await bytesOf(base, over, options));
  if (over.type === "directory") for (const child of over.children.values()) await load(base, child, data, options);
}

async function apply(base: FileSystem, { path, over }: Step, work: Work): Promise<void> {
  const { undo } = work;
  const { was } = over;
  const before = over.type === "file" && was?.stat.type === "file" ? was.stat : undefined;
  if (was && !before) work.aside.push(await setAside(base, path, undo));
  if (over.type === "file") {
    const old = before && (await base.readFile(path));
    const bytes = work.data.get(over) ?? new Uint8Array();
    await base.writeFile(path, bytes, { mode: over.stat.mode, ifVersion: before?.version ?? null });
    undo.push(() => (old ? base.writeFile(path, old) : base.remove(path)));
  } else if (over.type === "directory") {
    await base.mkdir(path);
    undo.push(() => base.remove(path, { recursive: true }));
    for (const step of [...over.children].flatMap(([name, child]) => stepsOf(child, joinPath(path, name)))) {
      if (step.over.type !== "removed") await apply(base, step, work);
    }
  }
}

/** Moves what stands at a path out of the way: it is removed once all else has been done, or moved back. */
async function setAside(base: FileSystem, path: string, undo: Undo[]): Promise<string> {
  for (let n = 0; ; n++) {
    const aside = joinPath(parentOf(path), `.shedkit-removed-${n}`);
    try {
      await base.rename(path, aside);
      undo.push(() => base.rename(aside, path));
      return aside;
    } catch (error) {
      if (!isFsError(error, "exists")) throw error;
    }
  }
}
