import type { FileSystem } from "@shedkit/fs";
import {
  defineTool,
  type Progress,
  ToolCallResult,
  ToolError,
  type TypedTool,
  type TypedToolContext,
  toBase64,
} from "@shedkit/tool";
import type { ContentPart, JsonValue } from "@shedkit/types";
import * as Type from "@sinclair/typebox";
import type { GeneratedImage, ImageClient } from "./client.js";
import { asking, badSize } from "./failing.js";
import { SHOWABLE } from "./media-type.js";
import { fileName, type Place, placeFor, save, slugOf, writing } from "./save.js";

/** The arguments of `image_gen`. */
export interface ImageGenInput {
  prompt: string;
  /** `1024x1024`, or what else the service takes. Default: the service's. */
  size?: string | undefined;
  /** Default: 1. */
  count?: number | undefined;
  /** Where it goes; several get numbers. Default: a name made of the prompt, in the settings' folder. */
  path?: string | undefined;
  /** Default: false. */
  overwrite?: boolean | undefined;
}

/** What `image_gen` gives beside its text. */
export interface ImageGenOutput {
  images: {
    /** Absent where there is no file system. */
    path?: string | undefined;
    mediaType: string;
    bytes: number;
    /** What the service made of the prompt, where it says so. */
    prompt?: string | undefined;
  }[];
}

/** Settings of `image_gen`. */
export interface ImageGenParams {
  /**
   * Where images go for which no path is given. Not to be set by a configuration of a tool set: people permit a call by the
   * folder that it names. Default: `images`.
   */
  folder: string;
  /** The sizes that there are; none: any. Default: none. */
  sizes: string[];
  /** How many images one call may make. Default: 4. */
  maxCount: number;
  /** How large one image may be, in bytes. Default: 20 MiB. */
  maxBytes: number;
  /** The model also sees images of at most so many bytes that were saved; 0: none. Default: 1 MiB. */
  showBytes: number;
  /** How long making them may take, in milliseconds. Default: 300,000. */
  timeoutMs: number;
}

const MIB = 1024 * 1024;
/** What a configuration may set. */
type Configurable = Omit<ImageGenParams, "folder">;

const FOLDER = "images";
const DEFAULTS: Configurable = {
  sizes: [],
  maxCount: 4,
  maxBytes: 20 * MIB,
  showBytes: MIB,
  timeoutMs: 300_000,
};
const MOST_MS = 600_000;

const base = {
  prompt: Type.String({ minLength: 1, maxLength: 32_000, description: "What is to be seen, and how." }),
  size: Type.Optional(Type.String({ description: "Width and height in pixels, e.g. 1024x1024." })),
  count: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: "How many images." })),
};
const Input = Type.Object(base, { additionalProperties: false });
const SavedInput = Type.Object(
  {
    ...base,
    path: Type.Optional(Type.String({ description: "The file to make; several get numbers. Default: a name for it." })),
    overwrite: Type.Optional(Type.Boolean({ default: false, description: "Replaces a file that is there." })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  images: Type.Array(
    Type.Object({
      path: Type.Optional(Type.String()),
      mediaType: Type.String(),
      bytes: Type.Integer(),
      prompt: Type.Optional(Type.String()),
    }),
  ),
});

const Params = Type.Object(
  {
    sizes: Type.Array(Type.String()),
    maxCount: Type.Integer({ minimum: 1, maximum: 10 }),
    maxBytes: Type.Integer({ minimum: 1 }),
    showBytes: Type.Integer({ minimum: 0 }),
    timeoutMs: Type.Integer({ minimum: 1, maximum: MOST_MS }),
  },
  { additionalProperties: false },
);

/**
 * `image_gen`, which makes images. With a file system they are saved there, and small ones are shown to the model
 * too; without one they are part of the result.
 */
export function imageGenTool(
  client: ImageClient,
  fs?: FileSystem | undefined,
  { folder = FOLDER, ...params }: Partial<ImageGenParams> = {},
): TypedTool<ImageGenInput, ImageGenOutput> {
  return defineTool({
    id: "image_gen",
    namespace: "media",
    kind: "imageGen",
    category: "media",
    description: (ctx) => {
      const { sizes } = ctx.params as unknown as Configurable;
      const some = sizes.length === 0 ? "" : ` Sizes: ${sizes.join(", ")}.`;
      const saves = fs ? " and saves it as a file" : "";
      return `Make an image.\nDraws what you describe${saves}. It costs money: ask for what is needed.${some}`;
    },
    input: fs ? SavedInput : Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    capabilities: {
      destructive: false,
      timeoutMs: MOST_MS + 60_000,
      touches: ({ path }) => (fs && typeof path === "string" ? [fileName(fs, path)] : []),
    },
    access: (input: ImageGenInput) => [
      { action: "network", target: client.host, detail: { prompt: input.prompt } },
      ...(fs ? [writing(fs, input.path, folder)] : []),
    ],
    execute: (input: ImageGenInput, ctx) => imageGen(client, fs && { fs, folder }, input, ctx),
  });
}

type Context = TypedToolContext<Configurable, undefined>;

async function* imageGen(
  client: ImageClient,
  files: { fs: FileSystem; folder: string } | undefined,
  input: ImageGenInput,
  ctx: Context,
): AsyncGenerator<Progress, ToolCallResult, void> {
  const { maxCount, maxBytes, sizes, timeoutMs } = ctx.params;
  const { tool } = ctx.names;
  const prompt = input.prompt.trim();
  const size = input.size?.trim() || undefined;
  const count = input.count ?? 1;
  if (prompt === "") return ToolCallResult.failure("no prompt", `${ctx.names.param("prompt")} is empty.`);
  if (count > maxCount) {
    const text = `${ctx.names.param("count")} is ${count}; ${maxCount} are the most in one call. Nothing was made.`;
    return ToolCallResult.failure("too many", text);
  }
  const wrong = badSize(size, sizes, ctx);
  if (wrong) return wrong;
  const names = { path: ctx.names.param("path"), overwrite: ctx.names.param("overwrite"), tool };
  const name = slugOf(prompt);
  const place = files && (await placeFor(files.fs, input, { folder: files.folder, name }, names, ctx.signal));
  if (ToolCallResult.is(place)) return place;
  yield { text: `${client.host} makes ${count === 1 ? "an image" : `${count} images`}.` };
  const images = await asking(ctx, timeoutMs, "Making it", (signal) =>
    client.generate({ prompt, size, count, maxBytes, signal }),
  );
  if (ToolCallResult.is(images)) return images;
  return files && place ? saved(files.fs, place, images, count, ctx) : shown(images, count);
}

async function saved(
  fs: FileSystem,
  place: Place,
  images: readonly GeneratedImage[],
  wanted: number,
  ctx: Context,
): Promise<ToolCallResult> {
  const lines: string[] = [];
  const parts: ContentPart[] = [];
  const rows: ImageGenOutput["images"] = [];
  for (const [i, image] of images.entries()) {
    const at = images.length === 1 ? place : { ...place, path: numbered(place.path, i + 1) };
    let path: string;
    try {
      path = await save(fs, at, image, ctx.names.tool, ctx.signal);
    } catch (error) {
      ctx.signal.throwIfAborted();
      // They are paid for: what could not be saved is given as it is.
      if (!(error instanceof ToolError)) throw error;
      const text = `${[...lines, `Not saved: ${error.message}`].join("\n")}\nWhat was made and not saved follows.`;
      const rest = images.slice(i).flatMap((one) => partOf(one, undefined));
      return new ToolCallResult([{ type: "text", text }, ...rest], { errorDetail: "made, but not saved" });
    }
    const { mediaType, revisedPrompt } = image;
    const row = {
      path,
      mediaType,
      bytes: image.data.length,
      ...(revisedPrompt !== undefined && { prompt: revisedPrompt }),
    };
    rows.push(row);
    lines.push(`Saved ${JSON.stringify(path)} (${mediaType}, ${row.bytes} bytes).${drew(revisedPrompt)}`);
    if (row.bytes <= ctx.params.showBytes) parts.push(...partOf(image, path));
  }
  lines.push(...fewer(images.length, wanted));
  const text: ContentPart = { type: "text", text: lines.join("\n") };
  return new ToolCallResult([text, ...parts], { output: { images: rows } as unknown as JsonValue });
}

function shown(images: readonly GeneratedImage[], wanted: number): ToolCallResult {
  const rows = images.map(({ data, mediaType, revisedPrompt }) => ({
    mediaType,
    bytes: data.length,
    ...(revisedPrompt !== undefined && { prompt: revisedPrompt }),
  }));
  const lines = rows.map(
    ({ mediaType, bytes, prompt }) => `Made an image (${mediaType}, ${bytes} bytes).${drew(prompt)}`,
  );
  const text: ContentPart = { type: "text", text: [...lines, ...fewer(images.length, wanted)].join("\n") };
  return new ToolCallResult([text, ...images.flatMap((image) => partOf(image, undefined))], {
    output: { images: rows },
  });
}

function drew(prompt: string | undefined): string {
  return prompt === undefined ? "" : ` The service drew: ${prompt.slice(0, 1000)}`;
}

function fewer(made: number, wanted: number): string[] {
  return made < wanted ? [`The service made ${made} of the ${wanted} images.`] : [];
}

/** `cat.png`, the second of several: `cat-2.png`. */
function numbered(path: string, n: number): string {
  const ending = /\.[A-Za-z0-9]{1,5}$/.exec(path)?.[0] ?? "";
  return `${path.slice(0, path.length - ending.length)}-${n}${ending}`;
}

function partOf({ data, mediaType }: GeneratedImage, name: string | undefined): ContentPart[] {
  const source = { type: "base64" as const, data: toBase64(data) };
  const type = SHOWABLE.has(mediaType) ? ("image" as const) : ("file" as const);
  return [{ type, source, mediaType, ...(name !== undefined && { name }) }];
}
