import { type ByteSource, fileSource, type HttpSourceOptions, httpSource } from "./byte-source.js";
import { modelError, throwIfAborted } from "./error.js";
import { MAGIC, whatItIs } from "./file-kind.js";
import { tensorType } from "./ggml-types.js";
import { GgufReader, NotReadable, readError } from "./gguf-reader.js";

/** A value in a header. A whole number is a bigint where a double cannot hold it. */
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
  /** Every key of the header as it stands, but for long arrays. */
  metadata: { readonly [key: string]: GgufValue };
  /** The lengths of arrays with more than 4,096 entries: the vocabulary and its like, which are not kept. */
  longArrays: { readonly [key: string]: number };
  tensors: readonly GgufTensor[];
  /** Where the weights begin. */
  dataOffset: number;
  /** Where the last weight ends; 0 without weights, undefined where a tensor's type is not known here. */
  dataEnd: number | undefined;
}

/** How a header is read over HTTP: with a token, through another `fetch`; and when reading stops. */
export type ReadHeaderOptions = HttpSourceOptions;

const LONG_ARRAY = 4096;
const MOST_DIMENSIONS = 8;

/**
 * Reads the header of a file, by its path or by its http address (by requests for ranges: a few MB of a file of any
 * size). The weights are not looked at, see {@link checkGgufFile}. Throws AgenticError `provider`: `notGguf`,
 * `truncated`, `damaged`, `fileNotFound`, `hubError`, `unreachable`.
 */
export async function readGgufHeader(source: string, options: ReadHeaderOptions = {}): Promise<GgufHeader> {
  throwIfAborted(options.signal, `Reading the header of ${source} was stopped.`);
  const bytes = await (/^https?:\/\//i.test(source) ? httpSource(source, options) : fileSource(source));
  try {
    return await parse(bytes, source, options.signal);
  } catch (error) {
    throw error instanceof NotReadable ? readError(source, error) : error;
  } finally {
    await bytes.close();
  }
}

async function parse(source: ByteSource, name: string, signal: AbortSignal | undefined): Promise<GgufHeader> {
  const found = whatItIs((await source.read(0, 64)).subarray(0, 64));
  if (found !== undefined) throw modelError("notGguf", `${name} is not a GGUF file: ${found}.`);
  const reader = new GgufReader(source);
  await reader.need(24);
  reader.skip(MAGIC.length);
  const version = reader.u32();
  if (version !== 2 && version !== 3) {
    const why = version > 0xffff ? "is for big-endian machines" : `has version ${version}, and 2 or 3 are read`;
    throw modelError("notGguf", `${name} is a GGUF file, but it ${why}; get the model in another file.`);
  }
  const tensorCount = reader.u64();
  const keyCount = reader.u64();
  const metadata: { [key: string]: GgufValue } = Object.create(null);
  const longArrays: { [key: string]: number } = Object.create(null);
  for (let i = 0; i < keyCount; i++) {
    throwIfAborted(signal, `Reading the header of ${name} was stopped.`);
    const key = await reader.text();
    await reader.need(4);
    const value = await readValue(reader, reader.u32());
    if (typeof value === "object" && "skipped" in value) longArrays[key] = value.skipped;
    else metadata[key] = value;
  }
  const infos: TensorInfo[] = [];
  for (let i = 0; i < tensorCount; i++) infos.push(await readTensorInfo(reader));
  const alignment = whole(metadata["general.alignment"]) ?? 32;
  if (alignment <= 0) throw new NotReadable("damaged", `its alignment is ${alignment}`);
  const dataOffset = Math.ceil(reader.position / alignment) * alignment;
  return headerOf(version, metadata, longArrays, infos, dataOffset);
}

const STRING = 8;
const ARRAY = 9;

/** How values of a fixed size are read, by the number of their type. */
const FIXED: { readonly [type: number]: readonly [number, (view: DataView, at: number) => number | bigint | boolean] } =
  {
    0: [1, (view, at) => view.getUint8(at)],
    1: [1, (view, at) => view.getInt8(at)],
    2: [2, (view, at) => view.getUint16(at, true)],
    3: [2, (view, at) => view.getInt16(at, true)],
    4: [4, (view, at) => view.getUint32(at, true)],
    5: [4, (view, at) => view.getInt32(at, true)],
    6: [4, (view, at) => view.getFloat32(at, true)],
    7: [1, (view, at) => view.getUint8(at) !== 0],
    10: [8, (view, at) => exact(view.getBigUint64(at, true))],
    11: [8, (view, at) => exact(view.getBigInt64(at, true))],
    12: [8, (view, at) => view.getFloat64(at, true)],
  };

function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

async function readValue(reader: GgufReader, type: number): Promise<GgufValue | { skipped: number }> {
  if (type === STRING) return reader.text();
  if (type === ARRAY) return readArray(reader);
  const [size, read] = fixed(type);
  await reader.need(size);
  return reader.take(size, read);
}

function fixed(type: number) {
  const known = FIXED[type];
  if (known) return known;
  throw new NotReadable("damaged", `a value in its header has the type ${type}, which does not exist`);
}

async function readArray(reader: GgufReader): Promise<GgufValue | { skipped: number }> {
  await reader.need(12);
  const type = reader.u32();
  const length = reader.u64();
  const long = length > LONG_ARRAY;
  const values: GgufValue[] = [];
  if (type === STRING) {
    for (let i = 0; i < length; i++) {
      if (!long) {
        values.push(await reader.text());
        continue;
      }
      if (!reader.has(8)) await reader.need(8);
      reader.skip(reader.u64());
    }
  } else {
    const [size, read] = fixed(type);
    if (long) reader.skip(length * size);
    else {
      await reader.need(length * size);
      for (let i = 0; i < length; i++) values.push(reader.take(size, read));
    }
  }
  return long ? { skipped: length } : values;
}

async function readTensorInfo(reader: GgufReader): Promise<TensorInfo> {
  const name = await reader.text();
  await reader.need(4);
  const dimensions = reader.u32();
  if (dimensions > MOST_DIMENSIONS)
    throw new NotReadable("damaged", `the tensor "${name}" has ${dimensions} dimensions`);
  await reader.need(dimensions * 8 + 12);
  const shape = Array.from({ length: dimensions }, () => reader.u64());
  return { name, shape, type: reader.u32(), offset: reader.u64() };
}

interface TensorInfo {
  name: string;
  shape: readonly number[];
  type: number;
  offset: number;
}

function headerOf(
  version: number,
  metadata: GgufHeader["metadata"],
  longArrays: GgufHeader["longArrays"],
  infos: readonly TensorInfo[],
  dataOffset: number,
): GgufHeader {
  const architecture = text(metadata["general.architecture"]) ?? "";
  const tensors = infos.map((info) => tensorOf(info, dataOffset));
  const count = whole(metadata["split.count"]) ?? 0;
  return {
    version,
    architecture,
    name: text(metadata["general.name"]),
    kind: architecture === "clip" ? "mmproj" : (text(metadata["general.type"]) ?? "model"),
    contextLength: whole(metadata[`${architecture}.context_length`]),
    layers: whole(metadata[`${architecture}.block_count`]),
    chatTemplate: text(metadata["tokenizer.chat_template"]),
    split: count > 1 ? { index: whole(metadata["split.no"]) ?? 0, count } : undefined,
    metadata,
    longArrays,
    tensors,
    dataOffset,
    dataEnd: tensors.reduce<number | undefined>(
      (end, tensor) =>
        end === undefined || tensor.bytes === undefined ? undefined : Math.max(end, tensor.offset + tensor.bytes),
      0,
    ),
  };
}

function tensorOf({ name, shape, type, offset }: TensorInfo, dataOffset: number): GgufTensor {
  const known = tensorType(type);
  const [row = 1, ...rest] = shape;
  // Rows are padded to whole blocks.
  const bytes = known && rest.reduce((n, d) => n * d, Math.ceil(row / known.blockWeights) * known.blockBytes);
  return { name, shape, type: known?.name ?? String(type), bytes, offset: dataOffset + offset };
}

/** A header's value as a text, if it is one. */
function text(value: GgufValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A header's value as a number, if it is one. */
export function whole(value: GgufValue | undefined): number | undefined {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}
