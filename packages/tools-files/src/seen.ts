import type { FileStat, FileSystem } from "@shedkit/fs";
import {
  type Requirement,
  type Resource,
  resource,
  type StateHandle,
  stateOf,
  type ToolContext,
  type TypedSchema,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { stale } from "./failure.js";
import { unifiedDiff } from "./text/diff.js";
import { decodeText } from "./text/encoding.js";
import { fingerprint, MAX_FINGERPRINTED } from "./text/hash.js";

/** Of tools with a setting `readFirst`: nothing could be changed where nothing can be read. */
export const NEEDS_READ: Requirement = {
  ifParams: { readFirst: true },
  // biome-ignore lint/suspicious/noThenProperty: a requirement, never awaited
  then: { kind: "read" },
};

/** A file as an agent last saw it. */
export interface Seen {
  version: string;
  /** Of the whole content, where that was looked at. */
  fingerprint?: string | undefined;
  /** The whole content of a small file, to tell later what changed. */
  content?: Uint8Array | undefined;
}

/** How large a file may be for its content to be kept, in bytes. */
export const MAX_KEPT = 64 * 1024;

const MAX_KEPT_ALL = 4 * 1024 * 1024; // of all files; then the oldest are forgotten

/** What outlasts the program: of each file its fingerprint or its version, by path; the last seen last. */
export interface SeenState {
  [path: string]: string;
}

const MOST_OUTLASTING = 50; // files: each change goes to the session's log
const VERSION = "version ";

/** What an agent has seen of a file system, by canonical path. */
export class SeenFiles {
  /** Files of rules that the agent was told of, or that are not there. */
  readonly rulesTold = new Set<string>();
  readonly #files = new Map<string, Seen>();
  readonly #state: StateHandle<SeenState> | undefined;
  #kept = 0;

  constructor(state?: StateHandle<SeenState>) {
    this.#state = state;
    for (const [path, seen] of Object.entries(state?.get() ?? {})) {
      const version = seen.startsWith(VERSION) ? seen.slice(VERSION.length) : undefined;
      this.#files.set(path, version === undefined ? { version: "", fingerprint: seen } : { version });
    }
  }

  get(path: string): Seen | undefined {
    return this.#files.get(path);
  }

  set(path: string, { version, fingerprint, content }: Seen): void {
    this.#remove(path);
    this.#remember(path, fingerprint ?? VERSION + version);
    const kept = content && content.length <= MAX_KEPT ? content : undefined;
    this.#files.set(path, { version, fingerprint, content: kept });
    this.#kept += kept?.length ?? 0;
    for (const [oldest, seen] of this.#files) {
      if (this.#kept <= MAX_KEPT_ALL) break;
      this.#kept -= seen.content?.length ?? 0;
      this.#files.set(oldest, { ...seen, content: undefined });
    }
  }

  delete(path: string): void {
    this.#remove(path);
    this.#remember(path, undefined);
  }

  #remember(path: string, seen: string | undefined): void {
    const old = this.#state?.get() ?? {};
    if (!this.#state || old[path] === seen) return;
    const { [path]: _, ...others } = old;
    const next = Object.entries(seen === undefined ? others : { ...others, [path]: seen });
    this.#state.set(Object.fromEntries(next.slice(-MOST_OUTLASTING)));
  }

  #remove(path: string): void {
    this.#kept -= this.#files.get(path)?.content?.length ?? 0;
    this.#files.delete(path);
  }

  /** A file or folder and what is in it, as far as it was seen. */
  below(path: string): [path: string, seen: Seen][] {
    return [...this.#files].filter(([known]) => known === path || known.startsWith(`${path}/`));
  }
}

/** One per session: what the agent saw, by file system. */
const SEEN: Resource<WeakMap<FileSystem, SeenFiles>> = resource("files seen");

/** The tools that read have the memory that is kept with the session; a set has one of them. */
const STATES = ["files:read", "hashline:hashline_read"].map((id) => stateOf(id) as Resource<StateHandle<SeenState>>);

/** For `state` of a tool that reads. */
export const SEEN_STATE: {
  schema: TypedSchema & { static: SeenState };
  version: number;
  initial(): SeenState;
} = {
  schema: Type.Unsafe<SeenState>({ type: "object", additionalProperties: { type: "string" } }),
  version: 1,
  initial: (): SeenState => ({}),
};

// Tools that are called without a session share what was seen through the file system object.
const withoutSession = new WeakMap<FileSystem, SeenFiles>();

/** What this agent has seen. Calls with neither session nor kept resources count as one agent per file system object. */
export function seenFiles(fs: FileSystem, ctx: ToolContext): SeenFiles {
  const kept = ctx.resources.get(SEEN);
  const byFs =
    kept ?? (ctx.sessionId === undefined ? withoutSession : ctx.resources.getOrDefault(SEEN, () => new WeakMap()));
  const known = byFs.get(fs);
  if (known) return known;
  const files = new SeenFiles(kept === undefined && ctx.sessionId === undefined ? undefined : stateIn(ctx));
  byFs.set(fs, files);
  return files;
}

function stateIn({ resources }: ToolContext): StateHandle<SeenState> | undefined {
  for (const key of STATES) {
    const state = resources.get(key);
    if (state) return state;
  }
  return undefined;
}

/**
 * Whether a file is what the agent saw, or was not seen; see {@link assertFresh}.
 */
export function isFresh(seen: Seen | undefined, stat: FileStat, fingerprint: string | undefined): boolean {
  if (!seen) return true;
  return seen.fingerprint === undefined ? seen.version === stat.version : seen.fingerprint === fingerprint;
}

/**
 * Throws Failure where a file is not what the agent saw. The content decides where it is known: versions also change
 * where it does not, and a very quick change may leave the version.
 *
 * @param now What the file holds; undefined where it is too large to be looked at.
 */
export function assertFresh(
  path: string,
  seen: Seen | undefined,
  stat: FileStat,
  now: { bytes: Uint8Array; fingerprint: string | undefined } | undefined,
  ctx: ToolContext,
): void {
  if (isFresh(seen, stat, now?.fingerprint)) return;
  throw stale(path, ctx, seen?.content && now ? changesShown(path, seen.content, now.bytes) : "");
}

/** Throws Failure where a file that is to go is not what the agent saw. `real`: its canonical path. */
export async function assertUnchanged(fs: FileSystem, path: string, real: string, ctx: ToolContext): Promise<void> {
  const { signal } = ctx;
  const stat = await fs.lstat(path, { signal });
  if (stat.type !== "file") return;
  const bytes = stat.size > MAX_FINGERPRINTED ? undefined : await fs.readFile(path, { signal });
  const now = bytes && { bytes, fingerprint: fingerprint(bytes) };
  assertFresh(path, seenFiles(fs, ctx).get(real), stat, now, ctx);
}

const MAX_SHOWN = 2000; // characters

function changesShown(path: string, before: Uint8Array, after: Uint8Array): string {
  if (after.length > MAX_KEPT) return "";
  const diff = unifiedDiff([{ path, before: decodeText(before).text, after: decodeText(after).text }]);
  return diff.length > MAX_SHOWN ? `${diff.slice(0, diff.lastIndexOf("\n", MAX_SHOWN))}\n...` : diff;
}
