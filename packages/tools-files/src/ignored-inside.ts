import { type FileSystem, quote } from "@shedkit/fs";
import type { ToolContext } from "@shedkit/tool";
import { Failure } from "./failure.js";
import { GITIGNORE } from "./ignored.js";
import { walkFolder } from "./list/walk.js";

/** Throws Failure where something in a folder is named by a `.gitignore`, if the tool keeps to these. */
export async function assertNothingIgnored(
  fs: FileSystem,
  folder: string,
  ctx: ToolContext & { params: { gitignore: boolean } },
): Promise<void> {
  if (!ctx.params.gitignore) return;
  const options = { hidden: true, gitignore: true, depth: Number.POSITIVE_INFINITY, signal: ctx.signal };
  const todo = [await walkFolder(fs, folder, options)];
  for (let next = todo.pop(); next; next = todo.pop()) {
    for (const entry of next.entries ?? []) todo.push(entry);
    if (next.skipped === "cut") {
      const text = `${quote(next.path)} is too deep, or too much is beside it, to see whether a ${GITIGNORE} file names something in it. Take it in parts.`;
      throw new Failure(`too much: ${quote(next.path)}`, text);
    }
    if (next.ignored === 0 && next.skipped !== "dependencies") continue;
    const text = `${quote(next.path)} has something in it that is left alone here: a ${GITIGNORE} file names it. Take the rest by itself.`;
    throw new Failure(`ignored: ${quote(next.path)}`, text);
  }
}
