import { type FileSystem, IgnoreRules, isFsError, joinPath, parentOf } from "@shedkit/fs";

export interface WalkOptions {
  /** Also entries whose names begin with a dot, `.git` aside. */
  hidden: boolean;
  signal: AbortSignal;
}

const IGNORE_FILES = [".gitignore", ".ignore"];

/** The rules of one folder's ignore files. */
interface FolderRules {
  folder: string;
  rules: IgnoreRules;
}

/** Tells, folder by folder, what ignore files hide. */
export class Ignored {
  readonly #fs: FileSystem;
  readonly #signal: AbortSignal;
  readonly #rules = new Map<string, Promise<FolderRules[]>>();

  constructor(fs: FileSystem, signal: AbortSignal) {
    this.#fs = fs;
    this.#signal = signal;
  }

  /**
   * The rules for what stands in a folder, the strongest first.
   *
   * @param names What stands there, where that is known.
   */
  rulesFor(folder: string, names?: ReadonlySet<string>): Promise<FolderRules[]> {
    const known = this.#rules.get(folder);
    if (known) return known;
    const rules = this.#read(
      folder,
      IGNORE_FILES.filter((name) => names?.has(name) ?? true),
    );
    this.#rules.set(folder, rules);
    return rules;
  }

  /** Whether a path, or a folder that it is in below `from`, is hidden. */
  async has(path: string, from: string): Promise<boolean> {
    for (let at = path, isFolder = false; at !== from && at !== "."; at = parentOf(at), isFolder = true) {
      if (isIgnored(await this.rulesFor(parentOf(at)), at, isFolder)) return true;
    }
    return false;
  }

  async #read(folder: string, files: readonly string[]): Promise<FolderRules[]> {
    const own = await Promise.all(files.map((name) => this.#readOne(folder, name)));
    const above = folder === "." ? [] : await this.rulesFor(parentOf(folder));
    return [...own.flat().reverse(), ...above];
  }

  async #readOne(folder: string, name: string): Promise<FolderRules[]> {
    try {
      const bytes = await this.#fs.readFile(joinPath(folder, name), { signal: this.#signal });
      return [{ folder, rules: new IgnoreRules(new TextDecoder().decode(bytes)) }];
    } catch (error) {
      if (isFsError(error)) return []; // there is none, or it cannot be read
      throw error;
    }
  }
}

function isIgnored(all: readonly FolderRules[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules } of all) {
    const ignored = rules.test(folder === "." ? path : path.slice(folder.length + 1), isFolder);
    if (ignored !== undefined) return ignored;
  }
  return false;
}

/** What is not looked into on the way, unless it is what was asked for. */
function isPassedOver(name: string, hidden: boolean): boolean {
  return name === ".git" || name === "node_modules" || (!hidden && name.startsWith("."));
}

/** Whether a path below `from` is one that a walk from there would come to. */
export async function isReached(
  fs: FileSystem,
  path: string,
  from: string,
  ignored: Ignored,
  hidden: boolean,
): Promise<boolean> {
  if (!isAllowed(fs, path)) return false;
  const below = from === "." ? path : path.slice(from.length + 1);
  return !below.split("/").some((name) => isPassedOver(name, hidden)) && !(await ignored.has(path, from));
}

/** Whether the file system takes a path at all. */
function isAllowed(fs: FileSystem, path: string): boolean {
  try {
    fs.resolve(path);
    return true;
  } catch (error) {
    if (isFsError(error)) return false;
    throw error;
  }
}

/** The files in a folder and below, in the order of their names. Links are not followed; folders that cannot be read are passed over. */
export async function* walk(
  fs: FileSystem,
  folder: string,
  ignored: Ignored,
  options: WalkOptions,
): AsyncGenerator<string, void, void> {
  const stack: { path: string; isFolder: boolean }[] = [{ path: folder, isFolder: true }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    options.signal.throwIfAborted();
    const { path, isFolder } = next;
    if (!isFolder) {
      yield path;
      continue;
    }
    const entries = await entriesOf(fs, path, options.signal);
    const rules = await ignored.rulesFor(path, new Set(entries.map(({ name }) => name)));
    for (const { name, type } of entries.reverse()) {
      if ((type !== "file" && type !== "directory") || isPassedOver(name, options.hidden)) continue;
      const child = joinPath(path, name);
      if (!isIgnored(rules, child, type === "directory")) stack.push({ path: child, isFolder: type === "directory" });
    }
  }
}

/** Puts paths into the order in which a walk comes to them. */
export function byWalk(a: string, b: string): number {
  const [x, y] = [a.split("/"), b.split("/")];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const [m, n] = [x[i] ?? "", y[i] ?? ""];
    if (m !== n) return m < n ? -1 : 1;
  }
  return x.length - y.length;
}

async function entriesOf(fs: FileSystem, folder: string, signal: AbortSignal) {
  try {
    return await fs.readdir(folder, { signal });
  } catch (error) {
    if (isFsError(error)) return [];
    throw error;
  }
}
