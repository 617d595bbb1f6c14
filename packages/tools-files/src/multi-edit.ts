import { type FileSystem, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { FILE_CHANGED } from "./announce.js";
import { Draft, lockingAll, shownDiff } from "./draft.js";
import { applyEdit } from "./edit/match.js";
import { refused, settingsOf } from "./edit/outcome.js";
import { answering, assertNoGap, Failure } from "./failure.js";
import { accessTo, touching } from "./paths.js";
import { NEEDS_READ } from "./seen.js";
import { hasGap } from "./text/data-uri.js";
import { plural } from "./text/format.js";

/** The arguments of `multi_edit`. */
export interface MultiEditInput {
  /** Made in this order; a later one sees what an earlier one did. */
  edits: {
    path: string;
    old_string: string;
    new_string: string;
    /** Default: false. */
    replace_all?: boolean | undefined;
  }[];
  /** Shows what would change, and changes nothing. Default: false. */
  dry_run?: boolean | undefined;
}

/** What `multi_edit` gives beside its text. */
export interface MultiEditOutput {
  /** By file, in the order in which they were first named. */
  files: { path: string; replacements: number }[];
  /** False after a dry run. */
  written: boolean;
}

/** Settings of `multi_edit`; see those of `edit`. */
export interface MultiEditParams {
  matchIndentation: boolean;
  matchLookalikes: boolean;
  readFirst: boolean;
  gitignore: boolean;
}

const DEFAULTS: MultiEditParams = {
  matchIndentation: true,
  matchLookalikes: false,
  readFirst: false,
  gitignore: false,
};

const Input = Type.Object(
  {
    edits: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "The file, relative to the root folder." }),
          old_string: Type.String({ description: "The text to replace, exactly as it stands in the file." }),
          new_string: Type.String({ description: "The text to put there." }),
          replace_all: Type.Optional(Type.Boolean({ description: "Replace every such place.", default: false })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, description: "Made in this order; a later one sees what an earlier one did." },
    ),
    dry_run: Type.Optional(Type.Boolean({ description: "Only show what would change.", default: false })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  files: Type.Array(Type.Object({ path: Type.String(), replacements: Type.Integer() })),
  written: Type.Boolean(),
});

const Params = Type.Object(
  {
    matchIndentation: Type.Boolean(),
    matchLookalikes: Type.Boolean(),
    readFirst: Type.Boolean(),
    gitignore: Type.Boolean(),
  },
  { additionalProperties: false },
);

/** Replaces text in several places of one or more files: all of it, or nothing. */
export function multiEditTool(
  fs: FileSystem,
  params: Partial<MultiEditParams> = {},
): TypedTool<MultiEditInput, MultiEditOutput> {
  return defineTool({
    id: "multi_edit",
    namespace: "files",
    kind: "edit",
    description: "Edit several places of files at once.\nAll the replacements are made, or none.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    capabilities: { destructive: false, touches: ({ edits }) => pathsOf(edits).flatMap((path) => touching(fs, path)) },
    requires: NEEDS_READ,
    notifications: [FILE_CHANGED],
    access: ({ edits }) => [...new Set(pathsOf(edits))].flatMap((path) => accessTo(fs, "write", path)),
    run: (input, ctx) => answering(fs, ctx, () => multiEdit(fs, input, ctx)),
  });
}

function pathsOf(edits: unknown): string[] {
  if (!Array.isArray(edits)) return [];
  return edits.flatMap((edit: { path?: unknown } | null) => (typeof edit?.path === "string" ? [edit.path] : []));
}

async function multiEdit(
  fs: FileSystem,
  input: MultiEditInput,
  ctx: ToolContext & { params: MultiEditParams },
): Promise<ToolCallResult> {
  return lockingAll(fs, pathsOf(input.edits), ctx, async () => {
    const draft = new Draft(fs, ctx);
    const counts = new Map<string, number>();
    for (const [i, { path, old_string, new_string, replace_all = false }] of input.edits.entries()) {
      const which = input.edits.length === 1 ? "" : ` of edit ${i + 1}`;
      if (old_string === new_string || old_string === "") {
        const what = old_string === "" ? "is empty" : `and ${ctx.names.param("new_string")} are the same`;
        const text = `${ctx.names.param("old_string")}${which} ${what}. Nothing was changed.`;
        throw new Failure("nothing to change", text);
      }
      if (!hasGap(old_string)) assertNoGap(new_string, `${ctx.names.param("new_string")}${which}`);
      const file = await draft.open(path);
      const edit = { old: old_string, next: new_string, all: replace_all };
      const result = applyEdit(file.text, edit, settingsOf(ctx));
      if (result.type !== "edited") throw refused(result, file.path, ctx, which);
      draft.change(file, result.text);
      counts.set(file.path, (counts.get(file.path) ?? 0) + result.placed.length);
    }
    const files = [...counts].map(([path, replacements]) => ({ path, replacements }));
    const output: MultiEditOutput = { files, written: !input.dry_run };
    const done = files
      .map(({ path, replacements }) => `${quote(path)} (${plural(replacements, "replacement")})`)
      .join(", ");
    const diff = input.dry_run ? `\n\n${shownDiff(await draft.changes())}` : "";
    if (!input.dry_run) await draft.commit();
    const text = input.dry_run ? `This would edit ${done}. Nothing was written.${diff}` : `Edited ${done}.`;
    return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
  });
}
