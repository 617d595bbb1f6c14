import { type FileSystem, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { FILE_CHANGED } from "./announce.js";
import { Draft, lockingAll, shownDiff } from "./draft.js";
import { answering, assertNoGap, Failure } from "./failure.js";
import { applyHunks } from "./patch/apply.js";
import { PatchError, type PatchSection, parsePatch } from "./patch/parse.js";
import { accessTo, touching } from "./paths.js";
import { NEEDS_READ } from "./seen.js";
import { shownTag } from "./text/tags.js";

/** The arguments of `apply_patch`. */
export interface ApplyPatchInput {
  patch: string;
  /** Shows what would change, and changes nothing. Default: false. */
  dry_run?: boolean | undefined;
}

/** What `apply_patch` gives beside its text. */
export interface ApplyPatchOutput {
  files: { path: string; change: "added" | "updated" | "deleted" | "moved" }[];
  /** False after a dry run. */
  written: boolean;
}

/** Settings of `apply_patch`; see those of `edit`. */
export interface ApplyPatchParams {
  /** Also of white space at the ends of lines that stays: false wants it to be as it is in the file. Default: true. */
  matchIndentation: boolean;
  readFirst: boolean;
  gitignore: boolean;
}

const DEFAULTS: ApplyPatchParams = { matchIndentation: true, readFirst: false, gitignore: false };

const Input = Type.Object(
  {
    patch: Type.String({ description: "From the line *** Begin Patch to the line *** End Patch." }),
    dry_run: Type.Optional(Type.Boolean({ description: "Only show what would change.", default: false })),
  },
  { additionalProperties: false },
);

const Change = Type.Union([
  Type.Literal("added"),
  Type.Literal("updated"),
  Type.Literal("deleted"),
  Type.Literal("moved"),
]);
const Output = Type.Object({
  files: Type.Array(Type.Object({ path: Type.String(), change: Change })),
  written: Type.Boolean(),
});

const Params = Type.Object(
  { matchIndentation: Type.Boolean(), readFirst: Type.Boolean(), gitignore: Type.Boolean() },
  { additionalProperties: false },
);

const DESCRIPTION = `Apply a patch to files.
All of it is applied, or nothing. The form, with any number of files, and of hunks (@@) in each:
*** Begin Patch
*** Add File: new.txt
+a line
*** Delete File: old.txt
*** Update File: src/main.ts
*** Move to: src/start.ts
@@ a line that comes before, if needed to find the place
 a kept line
-a removed line
+a new line
*** End Patch`;

/** Applies a patch to files: all of it, or nothing. */
export function applyPatchTool(
  fs: FileSystem,
  params: Partial<ApplyPatchParams> = {},
): TypedTool<ApplyPatchInput, ApplyPatchOutput> {
  return defineTool({
    id: "apply_patch",
    namespace: "files",
    kind: "edit",
    description: DESCRIPTION,
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    capabilities: { destructive: true, touches: ({ patch }) => pathsOf(patch).flatMap((path) => touching(fs, path)) },
    requires: NEEDS_READ,
    notifications: [FILE_CHANGED],
    access: ({ patch }) => pathsOf(patch).flatMap((path) => accessTo(fs, "write", path)),
    run: (input, ctx) => answering(fs, ctx, () => applyPatch(fs, input, ctx)),
  });
}

/** Every path that a patch names; none where it cannot be read, and so changes nothing. */
function pathsOf(patch: unknown): string[] {
  if (typeof patch !== "string") return [];
  try {
    const paths = parsePatch(patch).flatMap((section) =>
      section.type === "update" && section.moveTo !== undefined ? [section.path, section.moveTo] : [section.path],
    );
    return [...new Set(paths)];
  } catch (error) {
    if (error instanceof PatchError) return [];
    throw error;
  }
}

async function applyPatch(
  fs: FileSystem,
  input: ApplyPatchInput,
  ctx: ToolContext & { params: ApplyPatchParams },
): Promise<ToolCallResult> {
  const sections = explaining(() => parsePatch(input.patch));
  const added = input.patch.split("\n").filter((line) => line.startsWith("+"));
  assertNoGap(added.join("\n"), ctx.names.param("patch"));
  return lockingAll(fs, pathsOf(input.patch), ctx, async () => {
    const draft = new Draft(fs, ctx);
    const files: ApplyPatchOutput["files"] = [];
    for (const section of sections) files.push(await apply(draft, section, ctx));
    const output: ApplyPatchOutput = { files, written: !input.dry_run };
    const done = files.map(({ path, change }) => `${change} ${quote(path)}`).join(", ");
    const diff = input.dry_run ? shownDiff(await draft.changes()) : "";
    if (!input.dry_run) await draft.commit();
    const text = input.dry_run ? `This would be done: ${done}. Nothing was written.\n\n${diff}` : `Done: ${done}.`;
    return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
  });
}

async function apply(
  draft: Draft,
  section: PatchSection,
  ctx: ToolContext & { params: ApplyPatchParams },
): Promise<ApplyPatchOutput["files"][number]> {
  if (section.type === "add") {
    await draft.create(section.path, section.content);
    return { path: section.path, change: "added" };
  }
  const asItIs = section.type === "delete" || section.hunks.length === 0;
  const file = await (asItIs ? draft.take(section.path) : draft.open(section.path));
  const { path } = file;
  if (section.type === "delete") {
    await draft.remove(file);
    return { path, change: "deleted" };
  }
  if (!asItIs) {
    const settings = { indentation: ctx.params.matchIndentation, tag: shownTag(ctx) };
    const text = explaining(() => applyHunks(file.text, section.hunks, settings), path);
    if (text !== file.text) draft.change(file, text);
  }
  if (section.moveTo === undefined) return { path, change: "updated" };
  await draft.move(file, section.moveTo);
  return { path: file.path, change: "moved" };
}

function explaining<T>(work: () => T, path?: string): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const [where, file] = path === undefined ? ["", ""] : [` (${quote(path)})`, `${quote(path)}: `];
    throw new Failure(`patch does not fit${where}`, `${file}${error.message} Nothing was changed.`);
  }
}
