import type { FileSystem } from "@shedkit/fs";
import { imageInfo, type ToolCallResult, type ToolContext } from "@shedkit/tool";
import type { ReadParams } from "../read.js";
import { imageAt } from "./image-file.js";

/** A file that is to be read in a format. */
export interface FormatFile {
  /** Relative to the root. */
  path: string;
  /** Bytes. */
  size: number;
  /** Its first bytes: at most 8 KiB. */
  head: Uint8Array;
  /**
   * Where it is an image that cannot be given to a model as it is: too large, or of a kind that models do not read (BMP, TIFF,
   * ICO). 0 x 0 where its size does not stand at its start, and of such a kind. Absent where no images are to be shown.
   */
  image?: { mediaType: string; width: number; height: number } | undefined;
}

/** How a file is to be read in a format. */
export interface FormatRequest {
  fs: FileSystem;
  /** The pages that were asked for, as the model wrote them. */
  pages?: string | undefined;
  /** The most text that fits, in bytes of UTF-8. */
  maxBytes: number;
  /** Whether the model may be given images. */
  images: boolean;
  signal: AbortSignal;
  /** What a parameter of `read` is called, for messages. */
  param(canonical: "path" | "pages"): string;
}

/** Lets `read` read files that are no text: documents, images. */
export interface FileFormat {
  /** True where it has pages that can be asked for. */
  readonly paged: boolean;
  /** Whether it reads a file, by its name and its first bytes. */
  matches(file: FormatFile): boolean;
  /**
   * Reads a file. The result's `output` is a {@link ReadOutput}; what a model can mend is a failed result
   * (`ToolCallResult.failure`), which needs none. Rejects with FsError, ToolError, or the reason of the signal.
   */
  read(file: FormatFile, request: FormatRequest): Promise<ToolCallResult>;
}

const HEAD_BYTES = 8192;
const BYTES_PER_TOKEN = 4;

/** Reads a file in the first format that knows it; undefined for none. */
export async function readFormat(
  fs: FileSystem,
  { path, size }: { path: string; size: number },
  pages: string | undefined,
  ctx: ToolContext & { params: ReadParams },
  formats: readonly FileFormat[],
): Promise<ToolCallResult | undefined> {
  if (formats.length === 0 || size === 0) return undefined;
  const { signal } = ctx;
  const head = await fs.readFile(path, { end: HEAD_BYTES, signal });
  const image = ctx.params.images && imageInfo(head) ? await imageAt(fs, path, size, signal) : undefined;
  const file: FormatFile = { path, size, head, ...(image && !image.fits ? { image } : {}) };
  const format = formats.find((format) => format.matches(file));
  return format?.read(file, {
    fs,
    pages,
    maxBytes: ctx.params.maxTokens * BYTES_PER_TOKEN,
    images: ctx.params.images,
    signal,
    param: (name) => ctx.names.param(name),
  });
}
