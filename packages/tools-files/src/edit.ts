import { cleanPath, type FileSystem, isFsError, locate, parentOf, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { announce, FILE_CHANGED } from "./announce.js";
import { applyEdit } from "./edit/match.js";
import { NOTES, refused, settingsOf } from "./edit/outcome.js";
import { lineNumbers } from "./edit/replace.js";
import { snippet } from "./edit/snippet.js";
import { answering, assertNoGap, assertNotFolder, Failure } from "./failure.js";
import { assertNotIgnored } from "./ignored.js";
import { exclusively } from "./lock.js";
import { accessTo, touchesPath } from "./paths.js";
import { NEEDS_READ } from "./seen.js";
import { hasGap } from "./text/data-uri.js";
import { enumerate, plural } from "./text/format.js";
import { openText, saveText, type TextFile } from "./text-file.js";

/** The arguments of `edit`. */
export interface EditInput {
  path: string;
  old_string: string;
  new_string: string;
  /** Default: false. */
  replace_all?: boolean | undefined;
}

/** What `edit` gives beside its text. */
export interface EditOutput {
  path: string;
  /** True where the file was made: `old_string` was empty, and there was no file. */
  created: boolean;
  replacements: number;
  /** Where the replacements stand now, as line numbers from 1: the first thousand of them. */
  lines: number[];
  /** How the text was found: letter for letter, or nearly (see the settings). */
  matched: "exactly" | "indentation" | "lookalikes";
}

/** Settings of `edit`. */
export interface EditParams {
  /** Lets an empty `old_string` replace all that a file holds. Default: false, such a call is refused. */
  emptyOverwrites: boolean;
  /**
   * Where the text does not stand exactly: takes whole lines that differ only in white space at their ends, if just one
   * place has them, and indents the new text as the file is. Default: true.
   */
  matchIndentation: boolean;
  /**
   * Likewise for characters that look alike: curly quotes, dashes, ellipses, kinds of spaces. Those of the file stay where
   * the new text has plain ones. Default: false, the difference is explained.
   */
  matchLookalikes: boolean;
  /**
   * Shows the changed lines as they are now, numbered as `read` does: at most 12, of several places those of the first. Default:
   * false; where the text was found only nearly they are shown in any case.
   */
  snippet: boolean;
  /** Refuses to change a file that this agent has neither read nor written. Default: false. */
  readFirst: boolean;
  /** Refuses files that a `.gitignore` in the root folder or below names, or that are in such a folder. Default: false. */
  gitignore: boolean;
}

const DEFAULTS: EditParams = {
  emptyOverwrites: false,
  matchIndentation: true,
  matchLookalikes: false,
  snippet: false,
  readFirst: false,
  gitignore: false,
};
const MOST_LINES = 1000;

const Input = Type.Object(
  {
    path: Type.String({ description: "The file, relative to the root folder." }),
    old_string: Type.String({
      description:
        "The text to replace, exactly as it stands in the file, with enough around it to be the only such place.",
    }),
    new_string: Type.String({ description: "The text to put there." }),
    replace_all: Type.Optional(
      Type.Boolean({ description: "Replace every such place, not just one.", default: false }),
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  path: Type.String(),
  created: Type.Boolean(),
  replacements: Type.Integer(),
  lines: Type.Array(Type.Integer()),
  matched: Type.Union([Type.Literal("exactly"), Type.Literal("indentation"), Type.Literal("lookalikes")]),
});

const Params = Type.Object(
  {
    emptyOverwrites: Type.Boolean(),
    matchIndentation: Type.Boolean(),
    matchLookalikes: Type.Boolean(),
    snippet: Type.Boolean(),
    readFirst: Type.Boolean(),
    gitignore: Type.Boolean(),
  },
  { additionalProperties: false },
);

/** Replaces text in a file. */
export function editTool(fs: FileSystem, params: Partial<EditParams> = {}): TypedTool<EditInput, EditOutput> {
  return defineTool({
    id: "edit",
    namespace: "files",
    kind: "edit",
    description: ({ params: own }) =>
      "Edit a file: replace text.\nThe text must stand in the file exactly once, unless all places are to be replaced. " +
      "With an empty old text and no file yet, the file is made" +
      ((own as Partial<EditParams> | null)?.emptyOverwrites
        ? "; a file that is there gets the new text as its whole."
        : "."),
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    capabilities: { destructive: false, touches: touchesPath(fs) },
    requires: NEEDS_READ,
    notifications: [FILE_CHANGED],
    access: (input) => accessTo(fs, "write", input.path),
    run: (input, ctx) => answering(fs, ctx, () => edit(fs, input, ctx)),
  });
}

type Context = ToolContext & { params: EditParams };

async function edit(fs: FileSystem, input: EditInput, ctx: Context): Promise<ToolCallResult> {
  const { param } = ctx.names;
  if (input.old_string === input.new_string) {
    const text = `${param("old_string")} and ${param("new_string")} are the same: there is nothing to change.`;
    throw new Failure("nothing to change", text);
  }
  if (!hasGap(input.old_string)) assertNoGap(input.new_string, param("new_string"));
  const path = cleanPath(input.path);
  const found = await locate(fs, path, ctx.signal).catch((error: unknown) => {
    if (input.old_string === "" && isFsError(error, "notFound")) return undefined;
    throw error;
  });
  if (!found) assertNotFolder(input.path);
  const place = found?.path ?? fs.resolve(path);
  await assertNotIgnored(fs, place, ctx);
  if (!found) return exclusively(fs, place, ctx.signal, () => create(fs, place, input.new_string, ctx));
  const real = await fs.realpath(place, { signal: ctx.signal });
  return exclusively(fs, real, ctx.signal, async () => {
    const stat = await fs.stat(place, { signal: ctx.signal });
    const file = await openText(fs, place, stat, ctx, ctx.params.readFirst);
    return input.old_string === "" ? fill(fs, place, file, input, ctx) : replace(fs, place, file, input, ctx);
  });
}

async function create(fs: FileSystem, path: string, text: string, ctx: Context): Promise<ToolCallResult> {
  await fs.mkdir(parentOf(path), { recursive: true, signal: ctx.signal });
  const stat = await saveText(fs, path, text, "utf-8", null, ctx);
  announce(ctx, { path, change: "created", after: text });
  const said = `Created ${quote(path)} (${plural(stat.size, "byte")}).`;
  return answer(said, { path, created: true, replacements: 1, lines: [1], matched: "exactly" });
}

/** An empty old text: for an empty file, or to replace everything where that is allowed. */
async function fill(
  fs: FileSystem,
  path: string,
  file: TextFile,
  input: EditInput,
  ctx: Context,
): Promise<ToolCallResult> {
  if (file.text !== "" && !ctx.params.emptyOverwrites) {
    throw new Failure(
      `not empty: ${quote(path)}`,
      `${quote(path)} is not empty, and ${ctx.names.param("old_string")} is. Give the text to replace; to replace the whole ` +
        "file, write it. Nothing was changed.",
    );
  }
  await saveText(fs, path, input.new_string, file.encoding, file.stat.version, ctx);
  announce(ctx, { path, change: "changed", before: file.text, after: input.new_string });
  return answer(`Filled ${quote(path)}.`, { path, created: false, replacements: 1, lines: [1], matched: "exactly" });
}

async function replace(
  fs: FileSystem,
  path: string,
  file: TextFile,
  input: EditInput,
  ctx: Context,
): Promise<ToolCallResult> {
  const edit = { old: input.old_string, next: input.new_string, all: input.replace_all ?? false };
  const result = applyEdit(file.text, edit, settingsOf(ctx));
  if (result.type !== "edited") throw refused(result, path, ctx);
  await saveText(fs, path, result.text, file.encoding, file.stat.version, ctx);
  announce(ctx, { path, change: "changed", before: file.text, after: result.text });
  const { placed, matched } = result;
  const lines = lineNumbers(
    result.text,
    placed.slice(0, MOST_LINES).map(({ start }) => start),
  );
  const where = lines.length === 1 ? `line ${lines[0]}` : `lines ${enumerate(lines, placed.length)}`;
  const said = `Edited ${quote(path)}: ${plural(placed.length, "replacement")}, ${where}.${NOTES[matched]}`;
  const [place] = placed;
  const shown = place && (ctx.params.snippet || matched !== "exactly") ? snippet(result.text, place) : "";
  return answer(shown === "" ? said : `${said}\nWhat is there now:\n${shown}`, {
    path,
    created: false,
    replacements: placed.length,
    lines,
    matched,
  });
}

function answer(text: string, output: EditOutput): ToolCallResult {
  return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
}
