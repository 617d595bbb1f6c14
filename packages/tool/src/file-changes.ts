import { type Resource, type Resources, resource } from "./resources.js";

/** What a tool did to a file or folder. */
export interface FileChangeNote {
  /** Relative to the root of the tool's file system. */
  path: string;
  change: "created" | "changed" | "removed" | "moved";
  /** Where it was, if it was moved. */
  from?: string | undefined;
}

/** The latest changes of files in a session, for those who look at them after the calls: the last 1,000 are kept. */
export interface FileChangeLog {
  /** How many there were. */
  readonly count: number;
  /** Those after the first `count`, the latest last. */
  since(count: number): readonly FileChangeNote[];
  add(change: FileChangeNote): void;
}

const MOST_KEPT = 1000;
const log: Resource<FileChangeLog> = resource("fileChanges");

/** The changes of a session. A tool that changes files adds what it did; those of this toolkit do. */
export function fileChangesOf(resources: Resources): FileChangeLog {
  return resources.getOrDefault(log, newLog);
}

function newLog(): FileChangeLog {
  let count = 0;
  let kept: FileChangeNote[] = [];
  return {
    get count() {
      return count;
    },
    since: (seen) => (seen >= count ? [] : kept.slice(Math.max(0, kept.length - (count - seen)))),
    add(change) {
      count++;
      kept.push(change);
      if (kept.length >= 2 * MOST_KEPT) kept = kept.slice(-MOST_KEPT);
    },
  };
}
