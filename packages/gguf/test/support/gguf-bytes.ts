/** A value as it is written: numbers as u32, arrays by their first element. */
export type WrittenValue =
  | string
  | number
  | boolean
  | bigint
  | readonly string[]
  | readonly number[]
  | readonly boolean[];

export interface WrittenTensor {
  name: string;
  shape: readonly number[];
  /** The number of its ggml type. Default: 0 (F32). */
  type?: number;
  /** Bytes it takes. Default: four for each weight. */
  bytes?: number;
}

export interface WrittenGguf {
  metadata?: Readonly<Record<string, WrittenValue>>;
  tensors?: readonly WrittenTensor[];
  version?: number;
  /** Writes no weights, as if the file ended there. */
  headerOnly?: boolean;
}

const ALIGNMENT = 32;

/** A GGUF file, byte by byte; its weights are zeros. */
export function ggufBytes({ metadata = {}, tensors = [], version = 3, headerOnly }: WrittenGguf): Uint8Array {
  const out: Buffer[] = [Buffer.from("GGUF"), u32(version), u64(tensors.length), u64(Object.keys(metadata).length)];
  for (const [key, value] of Object.entries(metadata)) out.push(text(key), typed(value));
  let offset = 0;
  for (const tensor of tensors) {
    out.push(text(tensor.name), u32(tensor.shape.length), ...tensor.shape.map(u64), u32(tensor.type ?? 0), u64(offset));
    offset += padded(sizeOf(tensor));
  }
  const header = Buffer.concat(out);
  const whole = Buffer.concat([header, Buffer.alloc(padded(header.length) - header.length)]);
  return headerOnly ? whole : Buffer.concat([whole, Buffer.alloc(offset)]);
}

/** The keys every model has; `more` wins. */
export function modelKeys(architecture: string, more: Readonly<Record<string, WrittenValue>> = {}) {
  const keys: Record<string, WrittenValue> = {
    "general.architecture": architecture,
    [`${architecture}.context_length`]: 4096,
    [`${architecture}.embedding_length`]: 64,
    [`${architecture}.block_count`]: 2,
    [`${architecture}.attention.head_count`]: 4,
    ...more,
  };
  return keys;
}

function sizeOf({ shape, bytes }: WrittenTensor): number {
  return bytes ?? shape.reduce((n, d) => n * d, 4);
}

function padded(n: number): number {
  return Math.ceil(n / ALIGNMENT) * ALIGNMENT;
}

function u32(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
}

function u64(n: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(n));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function typeOf(value: WrittenValue): number {
  if (typeof value === "string") return 8;
  if (typeof value === "bigint") return 10;
  if (typeof value === "boolean") return 7;
  return typeof value === "number" ? 4 : 9;
}

function typed(value: WrittenValue): Buffer {
  return Buffer.concat([u32(typeOf(value)), bare(value)]);
}

function bare(value: WrittenValue): Buffer {
  if (typeof value === "string") return text(value);
  if (typeof value === "bigint") return u64(value);
  if (typeof value === "boolean") return Buffer.from([value ? 1 : 0]);
  if (typeof value === "number") return u32(value);
  return Buffer.concat([u32(typeOf(value[0] ?? 0)), u64(value.length), ...value.map(bare)]);
}
