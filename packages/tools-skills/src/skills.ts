import { type FileSystem, isFsError, joinPath } from "@shedkit/fs";
import { BadSkill, type Frontmatter, MAX_FRONTMATTER, readFrontmatter, split } from "./frontmatter.js";

/** A folder in which skills are: each in a folder of its own, with a SKILL.md. */
export interface SkillScope {
  /** e.g. `project`, `user`. */
  name: string;
  fs: FileSystem;
  /** Below the root of the file system. */
  folder: string;
  /**
   * Also the folders of this name in the folders of files that are worked on, and in those above them: of
   * `.agents/skills` `packages/web/.agents/skills` too, once something in `packages/web` was worked on. Default:
   * false.
   */
  nested?: boolean | undefined;
}

/** A folder of skills that was found on the way of a file. */
export interface Place {
  scope: string;
  folder: string;
}

/** A skill that was found, without its text. */
export interface Skill extends Frontmatter {
  scope: SkillScope;
  /** Its folder, canonical, below the root of the scope's file system. */
  folder: string;
  /** The folder whose files it is for: that in which the folder of skills stands; `"."` for all. */
  base: string;
}

/** A skill that is there and cannot be used. */
export interface SkillProblem {
  path: string;
  message: string;
}

const MAX_DEPTH = 5;
const MOST_SKILLS = 500;
const MAX_BODY = 256 * 1024; // bytes
const MAX_FILE = 1024 * 1024;
const MOST_FILES = 50;
const FILE = "SKILL.md";
const MOST_LOOKED = 200; // folders on the way of files

/**
 * Looks for skills, and reads them. Nothing outside a scope's folder is looked at, and nothing outside a skill's own
 * folder is read for it, through links either.
 */
export class Skills {
  readonly #scopes: readonly SkillScope[];
  /** Heads that were read, by scope and path, as long as the file is the same. */
  readonly #heads = new Map<string, { version: string; head: Frontmatter | BadSkill }>();

  /** Earlier scopes win where two skills have one name. */
  constructor(scopes: readonly SkillScope[]) {
    this.#scopes = scopes;
  }

  /**
   * All there are now, by scope and path, with those that cannot be used. `places`: those that {@link placesFor} has
   * found, whose skills come behind those of their scope's own folder, the deepest place first.
   */
  async list(
    signal: AbortSignal,
    places: readonly Place[] = [],
  ): Promise<{ skills: readonly Skill[]; problems: readonly SkillProblem[] }> {
    const skills = new Map<string, Skill>();
    const problems: SkillProblem[] = [];
    for (const [i, scope] of this.#scopes.entries()) {
      const nested = places.filter((place) => scope.nested === true && place.scope === scope.name);
      const deepest = nested.toSorted((a, b) => b.folder.split("/").length - a.folder.split("/").length);
      for (const folder of [scope.folder, ...deepest.map((place) => place.folder)]) {
        const base = folder === scope.folder ? "." : baseOf(folder, scope);
        const root = await scope.fs.realpath(folder, { signal }).catch(absent);
        if (root === undefined || !isInside(root, base)) continue;
        for (const path of await foldersWithSkill(scope.fs, folder, signal)) {
          if (skills.size >= MOST_SKILLS) break;
          const found = await this.#read(scope, root, path, `${i} ${path}`, signal);
          if (found instanceof BadSkill) problems.push({ path: joinPath(path, FILE), message: found.message });
          else if (found && !skills.has(found.name)) skills.set(found.name, { ...found, base });
        }
      }
    }
    return { skills: [...skills.values()], problems };
  }

  /**
   * The folders of skills in the folders of some files and above them, for scopes that are `nested`. Nothing in
   * packages that were installed: nobody here wrote those.
   */
  async placesFor(paths: readonly string[], signal: AbortSignal): Promise<Place[]> {
    const found: Place[] = [];
    const looked = new Set<string>();
    for (const scope of this.#scopes) {
      if (scope.nested !== true || scope.folder === ".") continue;
      for (const path of paths) {
        for (const above of foldersAbove(path)) {
          const folder = joinPath(above, scope.folder);
          const key = `${scope.name} ${folder}`;
          if (looked.has(key) || looked.size >= MOST_LOOKED) continue;
          looked.add(key);
          const there = await scope.fs.stat(folder, { signal }).catch(absent);
          if (there?.type === "directory") found.push({ scope: scope.name, folder });
        }
      }
    }
    return found;
  }

  /** What a skill says, without its head. Throws BadSkill. */
  async body(skill: Skill, signal: AbortSignal): Promise<string> {
    const text = await this.file(skill, FILE, signal, MAX_BODY);
    return split(text)?.body.trim() ?? text;
  }

  /** A text file of a skill. Throws BadSkill. */
  async file(skill: Skill, name: string, signal: AbortSignal, most = MAX_FILE): Promise<string> {
    const { fs } = skill.scope;
    const none = () => new BadSkill(`the skill ${skill.name} has no file ${JSON.stringify(name)}`);
    try {
      const real = await fs.realpath(fs.resolve(joinPath(skill.folder, name)), { signal });
      if (!isInside(real, skill.folder)) throw none();
      const { type, size } = await fs.stat(real, { signal });
      if (type !== "file") throw none();
      if (size > most) throw new BadSkill(`${JSON.stringify(name)} has ${size} bytes; ${most} are the most`);
      const bytes = await fs.readFile(real, { signal, end: most });
      if (bytes.subarray(0, 8192).includes(0)) throw new BadSkill(`${JSON.stringify(name)} is no text`);
      return new TextDecoder().decode(bytes);
    } catch (error) {
      if (isFsError(error)) throw none();
      throw error;
    }
  }

  /** The other files of a skill, sorted, at most 50. */
  async files(skill: Skill, signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    const open = [""];
    for (let folder = open.shift(); folder !== undefined && found.length < MOST_FILES; folder = open.shift()) {
      const entries = await skill.scope.fs.readdir(joinPath(skill.folder, folder), { signal }).catch(absent);
      for (const { name, type } of entries ?? []) {
        const path = folder === "" ? name : `${folder}/${name}`;
        if (name.startsWith(".") || path === FILE) continue;
        if (type === "file") found.push(path);
        if (type === "directory" && path.split("/").length < MAX_DEPTH) open.push(path);
      }
    }
    return found.slice(0, MOST_FILES).sort();
  }

  async #read(
    scope: SkillScope,
    root: string,
    folder: string,
    key: string,
    signal: AbortSignal,
  ): Promise<Omit<Skill, "base"> | BadSkill | undefined> {
    const { fs } = scope;
    try {
      const [own, file] = await Promise.all([
        fs.realpath(folder, { signal }),
        fs.realpath(joinPath(folder, FILE), { signal }),
      ]);
      if (!isInside(own, root) || !isInside(file, own)) return new BadSkill("it leads out of its folder");
      const { type, version } = await fs.stat(file, { signal });
      if (type !== "file") return undefined;
      const known = this.#heads.get(key);
      const head = known?.version === version ? known.head : await headOf(fs, file, signal);
      this.#heads.set(key, { version, head });
      return head instanceof BadSkill ? head : { ...head, scope, folder: own };
    } catch (error) {
      return isFsError(error) ? new BadSkill("it cannot be read") : Promise.reject(error);
    }
  }
}

async function headOf(fs: FileSystem, file: string, signal: AbortSignal): Promise<Frontmatter | BadSkill> {
  // Its two lines, and what makes a head too long.
  const bytes = await fs.readFile(file, { signal, end: MAX_FRONTMATTER + 64 });
  try {
    const parts = split(new TextDecoder().decode(bytes));
    if (parts) return readFrontmatter(parts.head);
    const open = new TextDecoder()
      .decode(bytes.subarray(0, 8))
      .replace(/^\ufeff/, "")
      .startsWith("---");
    const long = `its frontmatter does not end within ${MAX_FRONTMATTER} bytes`;
    return new BadSkill(open ? long : "it does not begin with frontmatter");
  } catch (error) {
    if (error instanceof BadSkill) return error;
    throw error;
  }
}

/**
 * The folders that hold a SKILL.md; what is below one of them is its own. Links to folders are looked at, and judged
 * later.
 */
async function foldersWithSkill(fs: FileSystem, folder: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const open = [{ path: folder, depth: 0 }];
  for (let next = open.shift(); next && found.length < MOST_SKILLS; next = open.shift()) {
    const { path, depth } = next;
    const entries = (await fs.readdir(path, { signal }).catch(absent)) ?? [];
    if (entries.some(({ name }) => name === FILE)) {
      found.push(path);
      continue;
    }
    for (const { name, type } of entries) {
      if (name.startsWith(".") || depth >= MAX_DEPTH) continue;
      const place = joinPath(path, name);
      if (type === "directory") open.push({ path: place, depth: depth + 1 });
      else if (type === "symlink" && (await hasSkill(fs, place, signal))) found.push(place);
    }
  }
  return found;
}

async function hasSkill(fs: FileSystem, folder: string, signal: AbortSignal): Promise<boolean> {
  return (await fs.lstat(joinPath(folder, FILE), { signal }).catch(absent)) !== undefined;
}

/** The folders in which a file stands, the root aside. */
function foldersAbove(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || parts.includes("..") || parts.includes("node_modules") || parts.includes(".git"))
    return [];
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("/"));
}

function baseOf(folder: string, scope: SkillScope): string {
  return folder.slice(0, folder.length - scope.folder.length - 1);
}

function isInside(path: string, folder: string): boolean {
  return folder === "." ? !path.startsWith("../") : path === folder || path.startsWith(`${folder}/`);
}

/** What is not there, or must not be reached; an abort stays one. */
function absent(error: unknown): undefined {
  if (isFsError(error)) return undefined;
  throw error;
}
