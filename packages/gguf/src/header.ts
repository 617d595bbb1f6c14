import { open } from "node:fs/promises";
import { fileError, modelError, throwIfAborted } from "./error.js";
import { type TensorType, tensorType } from "./ggml-types.js";

/** A value in a header. Whole numbers of 64 bits are bigints. */
export type GgufValue = string | number | bigint | boolean | readonly GgufValue[];

/** One tensor of a file. */
export interface GgufTensor {
  name: string;
  shape: readonly number[];
  /** `"Q4_K"`; a number as text where the type is not known here. */
  type: string;
  /** Bytes in the file; undefined where the type is not known here. */
  bytes: number | undefined;
  /** From the start of the file. */
  offset: number;
}

/** What stands before the weights of a GGUF file. */
export interface GgufHeader {
  version: number;
  /** `"qwen2"`, `"gemma3"`, ...; `""` where the file names none. */
  architecture: string;
  /** The name the uploader gave the model. */
  name?: string | undefined;
  /** `"model"`, or what else the file says it is: `"adapter"`, `"mmproj"`, `"imatrix"`. */
  kind: string;
  /** In tokens: what the model was trained for. */
  contextLength?: number | undefined;
  /** The number of blocks. */
  layers?: number | undefined;
  /** Jinja, as the uploader wrote it. */
  chatTemplate?: string | undefined;
  /** Of a model split into several files: how many, and which one this is, from 0. */
  split?: { index: number; count: number } | undefined;
  /** Every key of the header as it stands. */
  metadata: { readonly [key: string]: GgufValue };
  tensors: readonly GgufTensor[];
  /** Where the weights begin. */
  dataOffset: number;
  /** Where the last weight ends: the least size of the whole file. Undefined where a tensor's type is not known here. */
  dataEnd: number | undefined;
}

/** How a header is read over HTTP. */
export interface ReadHeaderOptions {
  /** For a repository that needs it. */
  token?: string | undefined;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  signal?: AbortSignal | undefined;
}

/** The first bytes of every GGUF file. */
export const MAGIC = "GGUF";

/**
 * Reads the header of a file, by its path or by its http address (by ranges: a few MB of a file of any size).
 * The file itself is not checked, see {@link checkGgufFile}. Throws AgenticError `provider`: `notGguf`, `damaged`.
 */
export async function readGgufHeader(source: string, options: ReadHeaderOptions = {}): Promise<GgufHeader> {
  const remote = /^https?:\/\//i.test(source);
  throwIfAborted(options.signal, `reading the header of ${source} was stopped`);
  const { gguf } = await import("@huggingface/gguf");
  if (!remote) await checkMagic(source);
  const failures: unknown[] = [];
  try {
    const parsed = await gguf(source, {
      allowLocalFile: !remote,
      ...(remote ? { fetch: rangedFetch(options, failures) } : {}),
    });
    if (!parsed.littleEndian) throw modelError("notGguf", `${source} is a GGUF file for big-endian machines.`);
    return headerOf({ ...parsed.metadata }, parsed.tensorInfos, Number(parsed.tensorDataOffset));
  } catch (error) {
    throwIfAborted(options.signal, `reading the header of ${source} was stopped`);
    if (failures.length > 0) throw failures[0];
    if (isModelError(error)) throw error;
    const why = error instanceof RangeError ? "it ends too early" : error instanceof Error ? error.message : error;
    if (/magic number/.test(String(why)))
      throw modelError("notGguf", `${source} is not a GGUF file.`, { cause: error });
    throw modelError("damaged", `The header of ${source} cannot be read (${why}): the file is damaged or cut short.`, {
      cause: error,
    });
  }
}

function isModelError(error: unknown): boolean {
  return error instanceof Error && error.name === "AgenticError";
}

/** Asks for ranges only, and takes nothing else for an answer: a web page must not be parsed as a header. */
function rangedFetch(options: ReadHeaderOptions, failures: unknown[]): typeof fetch {
  return async (input, init) => {
    try {
      const headers = new Headers(init?.headers);
      if (options.token !== undefined) headers.set("Authorization", `Bearer ${options.token}`);
      const response = await (options.fetch ?? fetch)(input, { ...init, headers, signal: options.signal ?? null });
      if (response.status === 206) return response;
      await response.body?.cancel();
      throw modelError(
        "hubError",
        `${String(input)} answered ${response.status} to a request for a part of the file; 206 was wanted.`,
        { status: response.status },
      );
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
}

/** Throws `notGguf`, naming what the file is instead where that can be seen. */
async function checkMagic(path: string): Promise<void> {
  const file = await open(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(64), 0, 64, 0);
    const found = whatItIs(buffer.subarray(0, bytesRead));
    if (found !== undefined) throw modelError("notGguf", `${path} is not a GGUF file: ${found}.`);
  } finally {
    await file.close();
  }
}

/** What bytes that should begin a GGUF file are instead; undefined where they do begin one. */
export function whatItIs(start: Uint8Array): string | undefined {
  const text = new TextDecoder("latin1").decode(start);
  if (text.startsWith(MAGIC)) return undefined;
  if (start.length === 0) return "it is empty";
  if (/^\s*<(!doctype|html|\?xml|head)/i.test(text)) return "it is a web page, saved in place of the model";
  if (text.startsWith("version https://git-lfs"))
    return "it is a Git LFS pointer; fetch the file itself (git lfs pull)";
  if (/^(ggjt|ggla|ggmf|lmgg|tjgg|fmgg)/.test(text)) return "it is in the format before GGUF; get the model as GGUF";
  if (text.startsWith("PK")) return "it is a zip archive (PyTorch weights?); get the model as GGUF";
  if (start[8] === 0x7b && start.subarray(4, 8).every((byte) => byte === 0)) {
    return "it looks like safetensors; get the model as GGUF";
  }
  return `it does not begin with "${MAGIC}"`;
}

interface TensorInfo {
  name: string;
  shape: readonly bigint[];
  dtype: number;
  offset: bigint;
}

function headerOf(all: object, infos: readonly TensorInfo[], dataOffset: number): GgufHeader {
  const { version, tensor_count: _tensors, kv_count: _keys, ...metadata } = all as { [key: string]: GgufValue };
  const architecture = text(metadata["general.architecture"]) ?? "";
  const tensors = infos.map((info) => tensorOf(info, dataOffset));
  const count = whole(metadata["split.count"]) ?? 0;
  return {
    version: Number(version),
    architecture,
    name: text(metadata["general.name"]),
    kind: architecture === "clip" ? "mmproj" : (text(metadata["general.type"]) ?? "model"),
    contextLength: whole(metadata[`${architecture}.context_length`]),
    layers: whole(metadata[`${architecture}.block_count`]),
    chatTemplate: text(metadata["tokenizer.chat_template"]),
    split: count > 1 ? { index: whole(metadata["split.no"]) ?? 0, count } : undefined,
    metadata,
    tensors,
    dataOffset,
    dataEnd: tensors.reduce<number | undefined>(
      (end, tensor) =>
        end === undefined || tensor.bytes === undefined ? undefined : Math.max(end, tensor.offset + tensor.bytes),
      dataOffset,
    ),
  };
}

function tensorOf(info: TensorInfo, dataOffset: number): GgufTensor {
  const type = tensorType(info.dtype);
  const shape = info.shape.map(Number);
  return {
    name: info.name,
    shape,
    type: type?.name ?? String(info.dtype),
    bytes: type && bytesOf(shape, type),
    offset: dataOffset + Number(info.offset),
  };
}

/** Rows are padded to whole blocks. */
function bytesOf([row = 1, ...rest]: readonly number[], type: TensorType): number {
  return rest.reduce((bytes, n) => bytes * n, Math.ceil(row / type.blockWeights) * type.blockBytes);
}

/** A header's value as a text, if it is one. */
export function text(value: GgufValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A header's value as a number, if it is one. */
export function whole(value: GgufValue | undefined): number | undefined {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}
