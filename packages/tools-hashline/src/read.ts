import { cleanPath, type FileSystem, locate, quote } from "@shedkit/fs";
import { defineTool, keptResults, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import {
  accessTo,
  assertNotIgnored,
  by,
  count,
  DATA_NOTE,
  ENCODING_NAMES,
  fingerprint,
  hasBinaryName,
  isBinary,
  loadText,
  plural,
  readImage,
  SEEN_STATE,
  seenFiles,
  touchesPath,
  withoutData,
} from "@shedkit/tools-files/internals";
import * as Type from "@sinclair/typebox";
import { BUNDLE, STANDARD_TOOLS } from "./bundle.js";
import { answeringByKind, failure } from "./failure.js";
import { anchorOf, hashed, shownLine } from "./file.js";
import { type Line, linesOf, shownText } from "./lines.js";
import { checkHashLength, USUAL_LETTERS } from "./settings.js";

/** The arguments of `hashline_read`. */
export interface HashlineReadInput {
  path: string;
  /** First line, from 1. Negative: counted from the end, -1 is the last. Default: 1. */
  offset?: number | undefined;
  /** How many lines. Default and at most: the `maxLines` setting. */
  limit?: number | undefined;
}

/** What `hashline_read` gives beside its text. */
export interface HashlineReadOutput {
  path: string;
  /** The lines read, without their ends, each with the anchor that names it. */
  lines: { anchor: string; text: string }[];
  /** How many lines the file has. */
  totalLines: number;
  encoding: string;
  /** True where lines that were asked for did not fit. */
  truncated: boolean;
}

/** Settings of `hashline_read`. */
export interface HashlineReadParams {
  /** How many letters the hashes have that it shows: 2 to 8. Default: 3. */
  hashLength: number;
  /** The most lines that one call returns. Default: 1000. */
  maxLines: number;
  /** The most that one call returns, in tokens of four bytes. Default: 25,000. */
  maxTokens: number;
  /** Gives small images (PNG, JPEG, GIF, WebP) to the model. Default: true; false refuses them. */
  images: boolean;
  /** Refuses files that a `.gitignore` in the root folder or below names, or that are in such a folder. Default: false. */
  gitignore: boolean;
}

const DEFAULTS: HashlineReadParams = {
  hashLength: USUAL_LETTERS,
  maxLines: 1000,
  maxTokens: 25_000,
  images: true,
  gitignore: false,
};
const BYTES_PER_TOKEN = 4;
const HEAD_BYTES = 8192;

const Input = Type.Object(
  {
    path: Type.String({ description: "The file, relative to the root folder." }),
    offset: Type.Optional(
      Type.Integer({ description: "First line, from 1. Negative: from the end. Default: the start of the file." }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: "How many lines. Default: as many as fit." })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  path: Type.String(),
  lines: Type.Array(Type.Object({ anchor: Type.String(), text: Type.String() })),
  totalLines: Type.Integer(),
  encoding: Type.String(),
  truncated: Type.Boolean(),
});

const Params = Type.Object(
  {
    hashLength: Type.Integer(),
    maxLines: Type.Integer({ minimum: 1 }),
    maxTokens: Type.Integer({ minimum: 1 }),
    images: Type.Boolean(),
    gitignore: Type.Boolean(),
  },
  { additionalProperties: false },
);

type Context = ToolContext & { params: HashlineReadParams };

/** Reads a text file, each line with the anchor that `hashline_edit` takes. */
export function hashlineReadTool(
  fs: FileSystem,
  params: Partial<HashlineReadParams> = {},
): TypedTool<HashlineReadInput, HashlineReadOutput> {
  return defineTool({
    id: "hashline_read",
    namespace: "hashline",
    kind: "read",
    description:
      "Read a file.\nReturns its text, or some of its lines, each as ANCHOR→text (12:abc→text), or a small image. What does " +
      "not fit is left out, with a note that says how to go on.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params }, check: (own) => checkHashLength(own) },
    state: SEEN_STATE,
    conflicts: STANDARD_TOOLS,
    bundle: BUNDLE,
    // The tool keeps to its own limits, and its notes at the end must stay.
    capabilities: { maxResultBytes: Number.MAX_SAFE_INTEGER, touches: touchesPath(fs) },
    access: (input) => accessTo(fs, "read", input.path),
    run: (input, ctx) => answeringByKind(fs, ctx, () => read(fs, input, ctx)),
  });
}

async function read(fs: FileSystem, input: HashlineReadInput, ctx: Context): Promise<ToolCallResult> {
  const kept = ctx.resources.get(keptResults)?.get(input.path.trim());
  if (kept !== undefined) return keptWindow(input.path.trim(), linesOf(kept), input, ctx);
  const { path, stat } = await locate(fs, cleanPath(input.path), ctx.signal);
  await assertNotIgnored(fs, path, ctx);
  if (stat.type === "directory") {
    const text = `${quote(path)} is a folder, not a file. List it${by("listDir", ctx)} instead.`;
    throw failure("InvalidInput", `a folder: ${quote(path)}`, text);
  }
  if (hasBinaryName(path) || isBinary(await fs.readFile(path, { end: HEAD_BYTES, signal: ctx.signal }))) {
    const image = ctx.params.images ? await readImage(fs, path, stat.size, ctx.signal) : undefined;
    // Of an image nothing stands in lines.
    if (image) return new ToolCallResult(image.content, { output: emptyOutput(path) });
    const text = `${quote(path)} is not a text file (${plural(stat.size, "byte")}). Only text can be read.`;
    throw failure("InvalidInput", `not a text file: ${quote(path)}`, text);
  }
  const { real, bytes, text, encoding } = await loadText(fs, path, stat, ctx);
  seenFiles(fs, ctx).set(real, { version: stat.version, fingerprint: fingerprint(bytes), content: bytes });
  const lines = linesOf(text);
  const { first, end, notes } = windowOf(path, lines, input, ctx);
  const file = hashed(path, lines, end);
  const shown = lines.slice(first, end).map((_, i) => shownLine(file, first + i, ctx.params.hashLength));
  if (lines.length === 0) notes.push("The file is empty.");
  if (lines.slice(first, end).some(({ text }) => withoutData(text).cut > 0)) notes.push(DATA_NOTE);
  if (lines.slice(first, end).some(({ text }) => shownText(text) !== text)) {
    notes.push(
      "Some bytes here are no text and are shown as \ufffd. They are kept in all lines that are not replaced.",
    );
  }
  if (encoding === "windows-1252") {
    notes.push("The file is not UTF-8; characters beyond ASCII are shown as in Windows-1252 and may be others.");
  } else if (encoding.startsWith("utf-16")) notes.push(`The file is ${ENCODING_NAMES[encoding]}.`);
  const output: HashlineReadOutput = {
    path,
    lines: lines.slice(first, end).map(({ text }, i) => ({
      anchor: anchorOf(file, first + i, ctx.params.hashLength),
      text: shownText(text),
    })),
    totalLines: lines.length,
    encoding,
    truncated: end < Math.min(first + (input.limit ?? Number.POSITIVE_INFINITY), lines.length),
  };
  return answer(shown, notes, output);
}

function emptyOutput(path: string): { [key in keyof HashlineReadOutput]: HashlineReadOutput[key] } {
  return { path, lines: [], totalLines: 0, encoding: "binary", truncated: false };
}

/** A result that was cut for length: nothing that can be edited, so it has no anchors. */
function keptWindow(path: string, lines: readonly Line[], input: HashlineReadInput, ctx: Context): ToolCallResult {
  const { first, end, notes } = windowOf(path, lines, input, ctx);
  const shown = lines.slice(first, end).map(({ text }) => text);
  const output = { ...emptyOutput(path), totalLines: lines.length, encoding: "utf-8", truncated: end < lines.length };
  return answer(shown, notes, output);
}

function answer(shown: readonly string[], notes: readonly string[], output: HashlineReadOutput): ToolCallResult {
  const note = notes.length === 0 ? [] : [`[${notes.join(" ")}]`];
  const text = [...(shown.length === 0 ? [] : [shown.join("\n")]), ...note].join("\n\n");
  return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
}

/** Which of the lines fit, from `first` (from 0) to before `end`. */
function windowOf(
  path: string,
  lines: readonly Line[],
  { offset = 1, limit }: HashlineReadInput,
  ctx: Context,
): { first: number; end: number; notes: string[] } {
  const { maxLines, maxTokens, hashLength } = ctx.params;
  const total = lines.length;
  const first = offset < 0 ? Math.max(total + offset, 0) : Math.max(offset, 1) - 1;
  if (total > 0 && first >= total) {
    const text = `${quote(path)} has ${plural(total, "line")}; ${ctx.names.param("offset")} ${offset} is past its end.`;
    throw failure("InvalidInput", "past the end", text);
  }
  const wanted = Math.min(first + Math.min(limit ?? maxLines, maxLines), total);
  const encoder = new TextEncoder();
  let left = maxTokens * BYTES_PER_TOKEN;
  let end = first;
  for (; end < wanted; end++) {
    const { text } = withoutData(lines[end]?.text ?? ""); // its base64 is not shown
    // No need to measure what is too long by its characters alone.
    left -= text.length > left ? text.length : encoder.encode(text).length + String(end + 1).length + hashLength + 3;
    if (left < 0) break;
  }
  if (end === first && wanted > first) throw lineTooLong(path, first, ctx);
  const next = end + 1;
  const goOn = `These are lines ${first + 1} to ${end} of ${count(total)}. Go on with ${ctx.names.param("offset")} ${next}.`;
  return { first, end, notes: end < total ? [goOn] : [] };
}

function lineTooLong(path: string, index: number, ctx: Context) {
  const shell = ctx.names.toolOf("execute");
  const text =
    `Line ${index + 1} of ${quote(path)} alone is too long for one call (${count(ctx.params.maxTokens)} tokens are the ` +
    `most). Search the file${by("search", ctx)} for what you need${shell === undefined ? "" : `, or cut the line with ${shell}`}; ` +
    `what follows it can be read with ${ctx.names.param("offset")} ${index + 2}.`;
  return failure("InvalidInput", "too long", text);
}
