import { cleanPath, type FileSystem, locate, nameOf, parentOf, quote } from "@shedkit/fs";
import {
  defineTool,
  keptResults,
  type Progress,
  ToolCallResult,
  type ToolContext,
  type TypedTool,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { answering, by, Failure } from "./failure.js";
import { assertNotIgnored } from "./ignored.js";
import { accessTo, touchesPath } from "./paths.js";
import { type FileFormat, readFormat } from "./read/format.js";
import { readImage } from "./read/image-file.js";
import { ruleFilesNote } from "./read/rule-files.js";
import { readWindow, type Source, type Window } from "./read/window.js";
import { SEEN_STATE, seenFiles } from "./seen.js";
import { hasBinaryName, isBinary } from "./text/binary.js";
import { DATA_NOTE, withoutData } from "./text/data-uri.js";
import { directionNote } from "./text/direction.js";
import { ENCODING_NAMES } from "./text/encoding.js";
import { count, numbered, pieceEnd, plural, shownText } from "./text/format.js";

/** The arguments of `read`. */
export interface ReadInput {
  path: string;
  /** First line, from 1. Negative: counted from the end. Default: 1. */
  offset?: number | undefined;
  /** How many lines. Default and at most: the `maxLines` setting. */
  limit?: number | undefined;
  /** Of a document: its pages or slides, e.g. `1-5,8`. Only where `read` was given formats that have some. */
  pages?: string | undefined;
}

/** What `read` gives beside its text. */
export interface ReadOutput {
  path: string;
  /**
   * The lines read, without a byte order mark, with their own line ends between them; also with the base64 of data URIs, which the
   * model is not shown.
   */
  content: string;
  /** Number of the first line in `content`, from 1. */
  firstLine: number;
  /** How many lines `content` has. */
  lines: number;
  /** Line feeds and one; 0 for an empty file. Absent where a very large file was not counted to its end. */
  totalLines?: number | undefined;
  encoding: string;
  /** True where lines that were asked for did not fit. */
  truncated: boolean;
  /** Of an image, which has no lines. */
  image?: { mediaType: string; width: number; height: number } | undefined;
}

/** Settings of `read`. */
export interface ReadParams {
  /** Puts the number before the first line and every tenth (`10→text`). Default: true. */
  lineNumbers: boolean;
  /** The most lines that one call returns. Default: 1000. */
  maxLines: number;
  /** The most that one call returns, in tokens of four bytes. Default: 25,000. */
  maxTokens: number;
  /** Gives small images (PNG, JPEG, GIF, WebP) to the model. Default: true; false refuses them. */
  images: boolean;
  /** Refuses files that a `.gitignore` in the root folder or below names, or that are in such a folder. Default: false. */
  gitignore: boolean;
  /**
   * Names of files with rules, e.g. `["AGENTS.md"]`: where the folder of a file that is read has one, or one above it, that is told,
   * once a session. Default: none.
   */
  ruleFiles: readonly string[];
  /** Also passes the text on as progress, piece by piece. Default: false. */
  stream: boolean;
}

const DEFAULTS: ReadParams = {
  lineNumbers: true,
  maxLines: 1000,
  maxTokens: 25_000,
  images: true,
  gitignore: false,
  ruleFiles: [],
  stream: false,
};
const BYTES_PER_TOKEN = 4;
const PIECE = 4096; // characters passed on at once
const MAX_SKILL = 1024 * 1024;

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

const InputWithPages = Type.Object(
  {
    ...Input.properties,
    pages: Type.Optional(
      Type.String({ description: "Of a document: pages or slides, e.g. 1-5,8 or 10-. Default: all, if they are few." }),
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  path: Type.String(),
  content: Type.String(),
  firstLine: Type.Integer(),
  lines: Type.Integer(),
  totalLines: Type.Optional(Type.Integer()),
  encoding: Type.String(),
  truncated: Type.Boolean(),
  image: Type.Optional(Type.Object({ mediaType: Type.String(), width: Type.Integer(), height: Type.Integer() })),
});

const Params = Type.Object(
  {
    lineNumbers: Type.Boolean(),
    maxLines: Type.Integer({ minimum: 1 }),
    maxTokens: Type.Integer({ minimum: 1 }),
    images: Type.Boolean(),
    gitignore: Type.Boolean(),
    ruleFiles: Type.Array(Type.String({ pattern: "^[^/]+$" })),
    stream: Type.Boolean(),
  },
  { additionalProperties: false },
);

/** Reads a text file, whole or some of its lines; and what the `formats` read, the first that knows a file. */
export function readTool(
  fs: FileSystem,
  params: Partial<ReadParams> = {},
  formats: readonly FileFormat[] = [],
): TypedTool<ReadInput, ReadOutput> {
  const paged = formats.some(({ paged }) => paged);
  return defineTool({
    id: "read",
    namespace: "files",
    kind: "read",
    description:
      "Read a file.\nReturns its text, or some of its lines, or a small image. What does not fit is left out, with a note " +
      "that says how to go on.",
    input: paged ? InputWithPages : Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    // Of all file tools: what was seen of which file, so that a resumed session notices what was changed meanwhile.
    state: SEEN_STATE,
    // The tool keeps to its own limits, and its notes at the end must stay.
    capabilities: { maxResultBytes: Number.MAX_SAFE_INTEGER, touches: touchesPath(fs) },
    access: (input) => accessTo(fs, "read", input.path),
    execute: (input: ReadInput, ctx) => reading(fs, input, ctx, formats),
  });
}

async function* reading(
  fs: FileSystem,
  input: ReadInput,
  ctx: ToolContext & { params: ReadParams },
  formats: readonly FileFormat[],
): AsyncGenerator<Progress, ToolCallResult, void> {
  const result = await answering(fs, ctx, () => read(fs, input, ctx, formats));
  const { encoding } = (result.output ?? {}) as Partial<ReadOutput>;
  if (!ctx.params.stream || encoding === undefined || !(encoding in ENCODING_NAMES)) return result;
  for (let at = 0; at < result.text.length; ) {
    const end = pieceEnd(result.text, at, PIECE);
    yield { text: result.text.slice(at, end) };
    at = end;
  }
  return result;
}

async function read(
  fs: FileSystem,
  input: ReadInput,
  ctx: ToolContext & { params: ReadParams },
  formats: readonly FileFormat[],
): Promise<ToolCallResult> {
  const kept = ctx.resources.get(keptResults)?.get(input.path.trim());
  if (kept !== undefined) return (await readFrom(textSource(kept), input.path.trim(), input, ctx)).result;
  const { path, stat } = await locate(fs, cleanPath(input.path), ctx.signal);
  await assertNotIgnored(fs, path, ctx);
  if (stat.type === "directory") {
    throw new Failure(
      `a folder: ${quote(path)}`,
      `${quote(path)} is a folder, not a file. List it${by("listDir", ctx)} instead.`,
    );
  }
  const inFormat = await readFormat(fs, { path, size: stat.size }, input.pages, ctx, formats);
  if (inFormat !== undefined) return inFormat;
  const source: Source = { size: stat.size, chunks: () => fs.readChunks(path, { signal: ctx.signal }) };
  const read =
    stat.size > 0 && hasBinaryName(path) ? undefined : await readFrom(source, path, input, ctx).catch(notText);
  if (!read) {
    const image = ctx.params.images ? await readImage(fs, path, stat.size, ctx.signal) : undefined;
    if (image) return image;
    const text = `${quote(path)} is not a text file (${plural(stat.size, "byte")}). Only text can be read.`;
    throw new Failure(`not a text file: ${quote(path)}`, text);
  }
  const { result, window } = read;
  const real = await fs.realpath(path, { signal: ctx.signal });
  const seen = seenFiles(fs, ctx);
  seen.set(real, { version: stat.version, fingerprint: window.fingerprint, content: window.whole });
  const rules = await ruleFilesNote(fs, path, ctx.params.ruleFiles, seen.rulesTold, ctx.signal);
  if (rules === "") return result;
  return new ToolCallResult([{ type: "text", text: `${result.text}\n\n[${rules}]` }], { output: result.output });
}

/** What guides an agent is read whole, whatever part of it was asked for. */
function isSkill(path: string): boolean {
  return nameOf(path) === "SKILL.md" || (path.endsWith(".md") && parentOf(path).split("/").includes("skills"));
}

async function readFrom(
  source: Source,
  path: string,
  input: ReadInput,
  ctx: ToolContext & { params: ReadParams },
): Promise<{ result: ToolCallResult; window: Window }> {
  const { lineNumbers } = ctx.params;
  const whole = isSkill(path);
  const maxLines = whole ? Number.POSITIVE_INFINITY : ctx.params.maxLines;
  const { offset = 1, limit = maxLines } = whole ? {} : input;
  const window = await readWindow(source, {
    offset,
    limit: Math.min(limit, maxLines),
    maxBytes: whole ? MAX_SKILL : ctx.params.maxTokens * BYTES_PER_TOKEN,
    inspect: (first) => {
      if (isBinary(first)) throw new NotText();
    },
  });
  const { first, lines, total } = window;
  if (window.wanted > 0 && lines === 0) throw lineTooLong(path, window, ctx);
  if (source.size > 0 && window.wanted === 0 && offset > 0) {
    const text = `${quote(path)} has ${plural(total ?? 0, "line")}; ${ctx.names.param("offset")} ${first} is past its end.`;
    throw new Failure("past the end", text);
  }
  const asked = whole ? maxLines : (input.limit ?? Number.POSITIVE_INFINITY);
  const output: ReadOutput = {
    path,
    content: shownText(window.text),
    firstLine: first,
    lines: source.size === 0 ? 0 : lines,
    ...(total === undefined ? {} : { totalLines: source.size === 0 ? 0 : total }),
    encoding: window.encoding,
    truncated: lines < Math.min(asked, total === undefined ? asked : total - first + 1),
  };
  const { text: kept, cut } = withoutData(output.content);
  const shown = kept.replaceAll("\r\n", "\n").replace(/\r$/, "");
  const body = lineNumbers && window.wanted > 0 && source.size > 0 ? numbered(shown, first) : shown;
  const note = noteOn(source, window, cut > 0, ctx, directionNote(shown, first));
  const text = note === "" ? body : body === "" ? note : `${body}\n\n${note}`;
  return { result: new ToolCallResult([{ type: "text", text }], { output: { ...output } }), window };
}

function noteOn(
  source: Source,
  window: Window,
  withoutData: boolean,
  ctx: ToolContext & { params: ReadParams },
  direction: string,
): string {
  if (source.size === 0) return "[The file is empty.]";
  const { first, lines, wanted, total, encoding } = window;
  const notes: string[] = [];
  if (wanted === 0) notes.push(`The file ends before that: it has ${plural(total ?? 0, "line")}.`);
  if (lines < wanted) {
    const tokens = count(Math.ceil(window.wantedBytes / BYTES_PER_TOKEN));
    const most = count(ctx.params.maxTokens);
    notes.push(
      `Lines ${first} to ${first + wanted - 1} are about ${tokens} tokens, more than the ${most} of one call.`,
    );
  }
  const next = first + lines;
  if (wanted > 0 && (total === undefined || next <= total)) {
    const of = total === undefined ? "a very long file" : count(total);
    notes.push(`These are lines ${first} to ${next - 1} of ${of}. Go on with ${ctx.names.param("offset")} ${next}.`);
  }
  if (withoutData) notes.push(DATA_NOTE);
  if (direction !== "") notes.push(direction);
  if (encoding === "utf-8-mixed") {
    notes.push(
      "Some bytes here are not UTF-8 and are shown as \ufffd: a text to be replaced must not have these in it. They are kept.",
    );
  } else if (encoding === "windows-1252") {
    notes.push("The file is not UTF-8; characters beyond ASCII are shown as in Windows-1252 and may be others.");
  } else if (encoding.startsWith("utf-16")) notes.push(`The file is ${ENCODING_NAMES[encoding]}.`);
  return notes.length === 0 ? "" : `[${notes.join(" ")}]`;
}

class NotText extends Error {}

function notText(error: unknown): undefined {
  if (!(error instanceof NotText)) throw error;
}

function lineTooLong(path: string, window: Window, ctx: ToolContext & { params: ReadParams }): Failure {
  const tokens = count(Math.ceil(window.wantedBytes / BYTES_PER_TOKEN));
  const shell = ctx.names.toolOf("execute");
  const text =
    `Line ${window.first} of ${quote(path)} alone is too long for one call (lines ${window.first} to ` +
    `${window.first + window.wanted - 1} are about ${tokens} tokens; ${count(ctx.params.maxTokens)} are the most). ` +
    `Search the file${by("search", ctx)} for what you need${shell === undefined ? "" : `, or cut the line with ${shell}`}.`;
  return new Failure("too long", text);
}

function textSource(text: string): Source {
  const bytes = new TextEncoder().encode(text);
  return {
    size: bytes.length,
    chunks: async function* () {
      yield bytes;
    },
  };
}
