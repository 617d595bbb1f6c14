import { cleanPath, type FileSystem, isFsError, type Located, locate, parentOf, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { announce, FILE_CHANGED } from "./announce.js";
import { answering, assertNoGap, assertNotFolder, Failure, unread } from "./failure.js";
import { assertNotIgnored } from "./ignored.js";
import { exclusively } from "./lock.js";
import { accessTo, touchesPath } from "./paths.js";
import { assertFresh, NEEDS_READ, seenFiles } from "./seen.js";
import { isBinary } from "./text/binary.js";
import { decodeText, ENCODING_NAMES, type Encoding } from "./text/encoding.js";
import { plural } from "./text/format.js";
import { fingerprint, MAX_FINGERPRINTED } from "./text/hash.js";
import { withTagsOf } from "./text/tags.js";
import { saveText } from "./text-file.js";

/** The arguments of `write`. */
export interface WriteInput {
  path: string;
  content: string;
}

/** What `write` gives beside its text. */
export interface WriteOutput {
  path: string;
  /** How many bytes the file has now. */
  bytes: number;
  /** False where a file was overwritten. */
  created: boolean;
}

/** Settings of `write`. */
export interface WriteParams {
  /** Refuses to overwrite a file that this agent has neither read nor written. Default: false. */
  readFirst: boolean;
  /** Refuses files that a `.gitignore` in the root folder or below names, or that are in such a folder. Default: false. */
  gitignore: boolean;
}

const DEFAULTS: WriteParams = { readFirst: false, gitignore: false };

const Input = Type.Object(
  {
    path: Type.String({ description: "The file, relative to the root folder. Missing folders are made." }),
    content: Type.String({ description: "The whole new content." }),
  },
  { additionalProperties: false },
);

const Output = Type.Object({ path: Type.String(), bytes: Type.Integer(), created: Type.Boolean() });

const Params = Type.Object({ readFirst: Type.Boolean(), gitignore: Type.Boolean() }, { additionalProperties: false });

/** Writes a whole file: creates it, or replaces what it held. */
export function writeTool(fs: FileSystem, params: Partial<WriteParams> = {}): TypedTool<WriteInput, WriteOutput> {
  return defineTool({
    id: "write",
    namespace: "files",
    kind: "write",
    description: "Write a file.\nCreates it with its folders, or replaces all that it held.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    requires: NEEDS_READ,
    notifications: [FILE_CHANGED],
    capabilities: { idempotent: true, destructive: false, touches: touchesPath(fs) },
    access: (input) => accessTo(fs, "write", input.path),
    run: (input, ctx) => answering(fs, ctx, () => writeText(fs, input, ctx)),
  });
}

type Context = ToolContext & { params: WriteParams };

/** Writes a whole file as the tool `write` does. */
export async function writeText(fs: FileSystem, input: WriteInput, ctx: Context): Promise<ToolCallResult> {
  assertNoGap(input.content, ctx.names.param("content"));
  assertNotFolder(input.path);
  const path = cleanPath(input.path);
  const found = await existing(fs, path, ctx);
  const place = found?.path ?? fs.resolve(path);
  await assertNotIgnored(fs, place, ctx);
  const key = found ? await fs.realpath(place, { signal: ctx.signal }) : place;
  return exclusively(fs, key, ctx.signal, async () => {
    const before = await existing(fs, place, ctx); // again: another call may have been first
    if (before?.stat.type === "directory") {
      throw new Failure(`a folder: ${quote(place)}`, `${quote(place)} is a folder. Give the path of a file.`);
    }
    const form = before ? await formOf(fs, before, ctx) : undefined;
    if (!before) await fs.mkdir(parentOf(place), { recursive: true, signal: ctx.signal });
    const given = form?.before === undefined ? input.content : withTagsOf(form.before, input.content, place, ctx);
    if (given !== input.content) form?.kept.push("< where it is shown as &lt; before a tag");
    const content = form?.crlf && !given.includes("\r") ? given.replaceAll("\n", "\r\n") : given;
    const encoding = form?.encoding ?? "utf-8";
    const text = content.startsWith("\ufeff") && encoding !== "utf-8" ? content.slice(1) : content;
    const stat = await saveText(fs, place, text, encoding, before?.stat.version ?? null, ctx);
    const change = before ? ("changed" as const) : ("created" as const);
    announce(ctx, { path: place, change, after: text, ...(form?.before !== undefined && { before: form.before }) });
    const output: WriteOutput = { path: place, bytes: stat.size, created: !before };
    const kept = form?.kept.length ? ` Kept: ${form.kept.join(", ")}.` : "";
    const said = `${before ? "Overwrote" : "Created"} ${quote(place)} (${plural(stat.size, "byte")}).${kept}`;
    return new ToolCallResult([{ type: "text", text: said }], { output: { ...output } });
  });
}

async function existing(fs: FileSystem, path: string, ctx: ToolContext): Promise<Located | undefined> {
  try {
    return await locate(fs, path, ctx.signal);
  } catch (error) {
    if (isFsError(error, "notFound")) return undefined;
    throw error;
  }
}

/** What of an old file's form the new content takes over. Throws Failure where the file is not what the agent saw. */
async function formOf(
  fs: FileSystem,
  { path, stat }: Located,
  ctx: Context,
): Promise<{ encoding: Encoding; crlf: boolean; kept: string[]; before?: string }> {
  const plain = { encoding: "utf-8" as const, crlf: false, kept: [] };
  if (stat.type !== "file") return plain; // refused by the file system
  const seen = seenFiles(fs, ctx).get(await fs.realpath(path, { signal: ctx.signal }));
  if (ctx.params.readFirst && !seen) throw unread(path, ctx);
  if (stat.size > MAX_FINGERPRINTED) {
    assertFresh(path, seen, stat, undefined, ctx); // it has grown, where it had a fingerprint
    return plain;
  }
  const bytes = await fs.readFile(path, { signal: ctx.signal });
  assertFresh(path, seen, stat, { bytes, fingerprint: fingerprint(bytes) }, ctx);
  if (isBinary(bytes)) return plain;
  const { text, encoding: old } = decodeText(bytes);
  const guessed = old === "windows-1252" || old === "utf-8-mixed"; // not worth keeping
  const encoding = guessed ? "utf-8" : old;
  const crlf = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  const kept = [...(encoding === "utf-8" ? [] : [ENCODING_NAMES[encoding]]), ...(crlf ? ["CRLF line ends"] : [])];
  return { encoding, crlf, kept, before: text };
}
