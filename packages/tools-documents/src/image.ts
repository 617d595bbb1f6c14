import { quote } from "@shedkit/fs";
import { ToolCallResult } from "@shedkit/tool";
import type { FileFormat, FormatFile, FormatRequest, ReadOutput } from "@shedkit/tools-files";
import { answering, Failure } from "./failure.js";
import { sizeOf } from "./image-size.js";
import { checkSize, TIMEOUT_MS } from "./text.js";
import { WorkFault, withThread } from "./work.js";

/** What an image is scaled down to: what models take, and a prompt can bear. */
export const TARGET = { bytes: 576 * 1024, side: 2000, pixels: 1_048_576, minSide: 128 };

/** What is unpacked at most: four bytes a pixel. */
export const MAX_PIXELS = 50_000_000;

/** What models read, and what ends with a mark. */
const NATIVE = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Images that are too large for a model, scaled down; and BMP, TIFF and ICO, which models do not read. */
export function imageFormat(): FileFormat {
  return {
    paged: false,
    matches: ({ image }) => image !== undefined,
    read: (file, request) => answering(() => readLarge(file, request)),
  };
}

async function readLarge(file: FormatFile, { fs, signal }: FormatRequest): Promise<ToolCallResult> {
  checkSize(file);
  const { path, image = { mediaType: "", width: 0, height: 0 } } = file;
  const native = NATIVE.has(image.mediaType);
  const other = native ? undefined : await fs.readFile(path, { signal });
  const found = other && sizeOf(other, image.mediaType);
  const { width, height } = found ?? image;
  if (width * height === 0) throw damaged(path, "its size is nowhere in it");
  const large = `${quote(path)} is an image of ${width} x ${height} pixels`;
  if (width * height > MAX_PIXELS) {
    throw new Failure("too large", `${large}; at most ${MAX_PIXELS} are unpacked. Make it smaller first.`);
  }
  const bytes = found?.png ?? other ?? (await fs.readFile(path, { signal }));
  // A decoder may fill up what is missing, and nobody would know.
  if (native && !isWhole(bytes, image.mediaType)) throw damaged(path, "its end is missing");
  return withThread(path, TIMEOUT_MS, signal, async (ask) => {
    const small = await ask<Small>({
      kind: "image",
      bytes,
      photo: image.mediaType === "image/jpeg",
      target: TARGET,
    }).catch((fault) => {
      throw fault instanceof WorkFault ? damaged(path, fault.message) : fault;
    });
    const { mediaType } = small;
    const shown = { mediaType, width: small.width, height: small.height };
    const output: ReadOutput = {
      path,
      content: "",
      firstLine: 1,
      lines: 0,
      encoding: "binary",
      truncated: false,
      image: shown,
    };
    const text = `[${large}, shown at ${small.width} x ${small.height}.]`;
    return new ToolCallResult([{ type: "text", text }, imageBlock(small, path)], { output: { ...output } });
  });
}

const MAX_TAIL = 65_536;

/** Whether the mark at an image's end is there; something else may follow it. */
function isWhole(bytes: Uint8Array, mediaType: string): boolean {
  const tail = Buffer.from(bytes.subarray(-MAX_TAIL));
  if (mediaType === "image/png") return tail.includes("IEND");
  if (mediaType === "image/jpeg") return tail.includes("\xff\xd9", 0, "latin1");
  if (mediaType === "image/gif") return tail.includes(0x3b);
  return bytes.length >= new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true) + 8;
}

/** An image that a model can be given. */
export interface Small {
  bytes: Uint8Array;
  mediaType: string;
  width: number;
  height: number;
}

/** A part of a result, beside its text. */
export type Block = ToolCallResult["content"][number];

export function imageBlock({ bytes, mediaType }: Small, name: string): Block {
  return { type: "image", source: { type: "base64", data: Buffer.from(bytes).toString("base64") }, mediaType, name };
}

function damaged(path: string, why: string): Failure {
  return new Failure("damaged", `${quote(path)} is an image that is damaged or broken off: ${why}.`);
}
