import { cleanPath, type FileSystem, locate } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import { FILE_CHANGED } from "@shedkit/tools-files";
import {
  accessTo,
  announce,
  assertNoGap,
  assertNotIgnored,
  exclusively,
  fingerprint,
  isFresh,
  loadText,
  NEEDS_READ,
  saveText,
  seenFiles,
  touchesPath,
  withTagsOf,
  writeText,
} from "@shedkit/tools-files/internals";
import * as Type from "@sinclair/typebox";
import { BUNDLE, STANDARD_TOOLS } from "./bundle.js";
import { answeringByKind, failure } from "./failure.js";
import { hashedText } from "./file.js";
import { type Line, linesOf, textOf } from "./lines.js";
import { splicesOf } from "./operations.js";
import { summaryOf, warningsOf } from "./outcome.js";
import { checkHashLength, USUAL_LETTERS } from "./settings.js";
import { type Splice, spliced } from "./splice.js";

/** One change of a file, by the anchors of its lines. */
export interface HashlineEdit {
  /**
   * `replace`: the lines from `anchor` to `end_anchor` (one line without it) become `content`; an empty one deletes them.
   * `insert_after`: puts `content` after the line of `anchor`; `0:` is the start of the file, `EOF` its end.
   * `write`: `content` becomes the whole file; it must be the only edit.
   */
  op: "replace" | "insert_after" | "write";
  /** The anchor as it was shown, e.g. `12:abc`. */
  anchor?: string | undefined;
  /** The last line to replace. Default: that of `anchor`. */
  end_anchor?: string | undefined;
  /** Lines, without anchors. A line end at its end adds no further line. */
  content: string;
}

/** The arguments of `hashline_edit`. */
export interface HashlineEditInput {
  path: string;
  /** All of them are made, or none. Every anchor is of the file as it is before the call. */
  edits: HashlineEdit[];
}

/** What `hashline_edit` gives beside its text. */
export interface HashlineEditOutput {
  path: string;
  /** True where `write` made the file. */
  created: boolean;
  /** In the order of the edits: the line at which each stands now (from 1), how many lines went and came. */
  edits: { line: number; removed: number; added: number }[];
  /** How many lines the file has now. */
  totalLines: number;
  /** What was done, but looks like a slip: large ranges. */
  warnings: string[];
}

/** Settings of `hashline_edit`. */
export interface HashlineEditParams {
  /** How many letters the hashes have that it shows: 2 to 8. It takes anchors of any length. Default: 3. */
  hashLength: number;
  /** Refuses `write` on a file that this agent has neither read nor written. Default: false. */
  readFirst: boolean;
  /** Refuses files that a `.gitignore` in the root folder or below names, or that are in such a folder. Default: false. */
  gitignore: boolean;
}

const DEFAULTS: HashlineEditParams = { hashLength: USUAL_LETTERS, readFirst: false, gitignore: false };

const Input = Type.Object(
  {
    path: Type.String({ description: "The file, relative to the root folder." }),
    edits: Type.Array(
      Type.Object(
        {
          op: Type.Union([Type.Literal("replace"), Type.Literal("insert_after"), Type.Literal("write")], {
            description:
              "replace: the lines from anchor to end_anchor become content; empty content deletes them. insert_after: content " +
              "goes after the line of anchor. write: content becomes the whole file.",
          }),
          anchor: Type.Optional(
            Type.String({
              description:
                "The line's anchor as it was shown, e.g. 12:abc. Of insert_after also 0: (start) or EOF (end).",
            }),
          ),
          end_anchor: Type.Optional(
            Type.String({ description: "Of replace: the last line's anchor. Default: the same line." }),
          ),
          content: Type.String({ description: "The new lines, without anchors." }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, description: "All are made, or none. Every anchor is of the file as it is before this call." },
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  path: Type.String(),
  created: Type.Boolean(),
  edits: Type.Array(Type.Object({ line: Type.Integer(), removed: Type.Integer(), added: Type.Integer() })),
  totalLines: Type.Integer(),
  warnings: Type.Array(Type.String()),
});

const Params = Type.Object(
  { hashLength: Type.Integer(), readFirst: Type.Boolean(), gitignore: Type.Boolean() },
  { additionalProperties: false },
);

type Context = ToolContext & { params: HashlineEditParams };

/** Changes lines of a file that are named by their anchors. */
export function hashlineEditTool(
  fs: FileSystem,
  params: Partial<HashlineEditParams> = {},
): TypedTool<HashlineEditInput, HashlineEditOutput> {
  return defineTool({
    id: "hashline_edit",
    namespace: "hashline",
    kind: "edit",
    description:
      "Edit a file by the anchors of its lines.\nAn anchor stands before each line that was read or found (12:abc→text). " +
      "Where the line is not that any more, nothing is changed, and the anchors as they are now are told.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params }, check: (own) => checkHashLength(own) },
    conflicts: STANDARD_TOOLS,
    bundle: BUNDLE,
    capabilities: { destructive: false, touches: touchesPath(fs) },
    requires: NEEDS_READ,
    notifications: [FILE_CHANGED],
    access: (input) => accessTo(fs, "write", input.path),
    run: (input, ctx) => answeringByKind(fs, ctx, () => edit(fs, input, ctx)),
  });
}

async function edit(fs: FileSystem, input: HashlineEditInput, ctx: Context): Promise<ToolCallResult> {
  const whole = input.edits.find(({ op }) => op === "write");
  if (whole) {
    if (input.edits.length > 1) {
      const text = "write replaces the whole file, so it must be the only edit. Nothing was changed.";
      throw failure("OverlappingEdits", "write beside other edits", text);
    }
    return write(fs, input.path, whole.content, ctx);
  }
  for (const [i, { content }] of input.edits.entries()) assertNoGap(content, `the content of edit ${i + 1}`);
  const { path } = await locate(fs, cleanPath(input.path), ctx.signal);
  await assertNotIgnored(fs, path, ctx);
  const real = await fs.realpath(path, { signal: ctx.signal });
  return exclusively(fs, real, ctx.signal, () => editLines(fs, path, input.edits, ctx));
}

async function editLines(
  fs: FileSystem,
  path: string,
  edits: readonly HashlineEdit[],
  ctx: Context,
): Promise<ToolCallResult> {
  const stat = await fs.stat(path, { signal: ctx.signal });
  const before = await loadText(fs, path, stat, ctx);
  const file = hashedText(path, before.text);
  const splices = splicesOf(edits, file, ctx).map((splice) => withTags(splice, file.lines, path, ctx));
  const { lines, placed } = spliced(file.lines, splices);
  const text = textOf(lines);
  if (text === before.text) {
    const reason = "The file says that already. Nothing was changed.";
    throw failure("InvalidInput", "nothing to change", reason);
  }
  const seen = seenFiles(fs, ctx).get(before.real);
  const fresh = isFresh(seen, stat, fingerprint(before.bytes));
  await saveText(fs, path, text, before.encoding, stat.version, ctx);
  // What else was changed in it the agent still has not seen.
  if (!fresh && seen) seenFiles(fs, ctx).set(before.real, seen);
  announce(ctx, { path, change: "changed", before: before.text, after: text });
  const ordered = placed.toSorted((a, b) => a.edit - b.edit);
  const warnings = warningsOf(splices, ctx);
  const output: HashlineEditOutput = {
    path,
    created: false,
    edits: ordered.map(({ line, removed, added }) => ({ line, removed, added })),
    totalLines: lines.length,
    warnings,
  };
  const said = summaryOf(path, lines, placed, warnings, ctx.params.hashLength);
  return new ToolCallResult([{ type: "text", text: said }], { output: { ...output } });
}

/** New lines that were copied from what is shown of the lines they replace get the tags that stand there. */
function withTags(splice: Splice, lines: readonly Line[], path: string, ctx: Context): Splice {
  const { start, removed, added } = splice;
  const before = lines.slice(start, start + removed).map(({ text }) => text);
  const given = added.join("\n");
  const next = withTagsOf(before.join("\n"), given, path, ctx);
  return next === given ? splice : { ...splice, added: next.split("\n") };
}

async function write(fs: FileSystem, path: string, content: string, ctx: Context): Promise<ToolCallResult> {
  const result = await writeText(fs, { path, content }, ctx);
  const { created, path: place } = result.output as { created: boolean; path: string };
  const totalLines = linesOf(content).length;
  const edits = [{ line: 1, removed: 0, added: totalLines }];
  const output: HashlineEditOutput = { path: place, created, edits, totalLines, warnings: [] };
  return new ToolCallResult(result.content, { output: { ...output } });
}
