import { fileChangesOf, type ToolContext } from "@shedkit/tool";
import { shownText } from "./text/format.js";

/** What tools that change files tell their host of: see {@link FileChanged}. */
export const FILE_CHANGED = "fileChanged";

/** The data of a `fileChanged` notification. */
export interface FileChanged {
  /** Relative to the root. */
  path: string;
  change: "created" | "changed" | "removed" | "moved";
  /** Where a moved file or folder was. */
  from?: string;
  /** The text before; absent for a new file, and for one that is large or no text. */
  before?: string;
  /** The text now; absent for a removed file, and for one that is large or no text. */
  after?: string;
}

const MAX_TEXT = 256 * 1024; // length of a text that is passed on

/** Tells the host of a change that was made, and those who look at the session's changes after the call. */
export function announce(ctx: ToolContext, { path, change, from, before, after }: FileChanged): void {
  fileChangesOf(ctx.resources).add({ path, change, from });
  ctx.notify(FILE_CHANGED, {
    path,
    change,
    ...(from === undefined ? {} : { from }),
    ...(before === undefined || before.length > MAX_TEXT ? {} : { before: shownText(before) }),
    ...(after === undefined || after.length > MAX_TEXT ? {} : { after: shownText(after) }),
  });
}
