import { createHash } from "node:crypto";
import type { FakeModelOptions } from "./hub.js";

/** How the hub keeps a file: large files by LFS or by Xet, small ones in git itself. */
export type HubStorage = "lfs" | "xet" | "git";

/** The files of a commit by path: their bytes, or their bytes and how they are kept. Default storage: `"lfs"`. */
export type FakeRepositoryFiles = {
  readonly [path: string]: Uint8Array | { content: Uint8Array; storage?: HubStorage | undefined; listedBytes?: number };
};

/** A file as the fake hub has it. */
export interface HubFileEntry {
  content: Uint8Array;
  /** As listed and announced: `listedBytes` where it was given, to make a file seem larger than it is. */
  bytes: number;
  storage: HubStorage;
  /** SHA-256, or git's hash of a file in git. */
  etag: string;
  /** Its name on the CDN. */
  cdnKey: string;
  /** As it stands in a listing. */
  entry: { type: "file"; path: string; oid: string; size: number; lfs?: object; xetHash?: string };
}

/** A repository of a fake hub. */
export interface FakeRepository {
  readonly name: string;
  readonly options: FakeModelOptions;
  /** The newest commit's id. */
  readonly head: string;
  /** By branch or id. */
  commit(revision: string): { id: string; files: ReadonlyMap<string, HubFileEntry> } | undefined;
  addCommit(files: FakeRepositoryFiles, branch: string): void;
  allFiles(): readonly HubFileEntry[];
}

/** An empty repository. */
export function makeRepository(name: string, options: FakeModelOptions): FakeRepository {
  const commits = new Map<string, ReadonlyMap<string, HubFileEntry>>();
  const branches = new Map<string, string>();
  let head = "";
  return {
    name,
    options,
    get head() {
      return head;
    },
    commit(revision) {
      const id = branches.get(revision) ?? revision;
      const files = commits.get(id);
      return files && { id, files };
    },
    addCommit(files, branch) {
      const before = commits.get(branches.get(branch) ?? "") ?? new Map<string, HubFileEntry>();
      const all = new Map([
        ...before,
        ...Object.entries(files).map(([path, file]) => [path, entryOf(path, file)] as const),
      ]);
      head = createHash("sha1").update(`${name}\0${branch}\0${commits.size}`).digest("hex");
      commits.set(head, all);
      branches.set(branch, head);
    },
    allFiles: () => [...commits.values()].flatMap((files) => [...files.values()]),
  };
}

function entryOf(path: string, file: FakeRepositoryFiles[string]): HubFileEntry {
  const { content, storage = "lfs", listedBytes } = file instanceof Uint8Array ? { content: file } : file;
  const bytes = listedBytes ?? content.length;
  const sha256 = createHash("sha256").update(content).digest("hex");
  const git = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
  const pointer = createHash("sha1").update(sha256).digest("hex");
  return {
    content,
    bytes,
    storage,
    etag: storage === "git" ? git : sha256,
    cdnKey: createHash("sha256").update(`${path}\0${sha256}`).digest("hex"),
    entry: {
      type: "file",
      path,
      size: bytes,
      oid: storage === "git" ? git : pointer,
      ...(storage === "git" ? {} : { lfs: { oid: sha256, size: bytes, pointerSize: 135 } }),
      ...(storage === "xet" ? { xetHash: pointer.padEnd(64, "0") } : {}),
    },
  };
}
