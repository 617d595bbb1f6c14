/** The value types of GGUF metadata that the writer uses, with their numbers in the format. */
export type GgufValue =
  | { type: "u32"; value: number }
  | { type: "f32"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "strings"; value: readonly string[] }
  | { type: "i32s"; value: readonly number[] };

/** A tensor of 32-bit floats. `shape` has the fastest dimension first, as the format wants it. */
export interface GgufTensor {
  name: string;
  shape: readonly number[];
  values: Float32Array;
}

const VERSION = 3;
const ALIGNMENT = 32;
const TYPE = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;

/** A whole GGUF file: metadata in the order given, then the tensors. */
export function writeGguf(metadata: ReadonlyMap<string, GgufValue>, tensors: readonly GgufTensor[]): Uint8Array {
  const out = new Bytes();
  out.raw(new TextEncoder().encode("GGUF"));
  out.u32(VERSION);
  out.u64(tensors.length);
  out.u64(metadata.size);
  for (const [key, value] of metadata) writeEntry(out, key, value);
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    out.string(name);
    out.u32(shape.length);
    for (const size of shape) out.u64(size);
    out.u32(0); // F32
    out.u64(offset);
    offset += aligned(values.byteLength);
  }
  out.pad();
  for (const { values } of tensors) {
    out.raw(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    out.pad();
  }
  return out.done();
}

function writeEntry(out: Bytes, key: string, entry: GgufValue): void {
  out.string(key);
  switch (entry.type) {
    case "u32":
      out.u32(TYPE.u32);
      out.u32(entry.value);
      break;
    case "f32":
      out.u32(TYPE.f32);
      out.f32(entry.value);
      break;
    case "bool":
      out.u32(TYPE.bool);
      out.raw(Uint8Array.of(entry.value ? 1 : 0));
      break;
    case "string":
      out.u32(TYPE.string);
      out.string(entry.value);
      break;
    case "strings":
      writeArrayHead(out, TYPE.string, entry.value.length);
      for (const item of entry.value) out.string(item);
      break;
    case "i32s":
      writeArrayHead(out, TYPE.i32, entry.value.length);
      for (const item of entry.value) out.u32(item);
      break;
  }
}

function writeArrayHead(out: Bytes, type: number, length: number): void {
  out.u32(TYPE.array);
  out.u32(type);
  out.u64(length);
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

/** Little-endian bytes that grow. */
class Bytes {
  #bytes = new Uint8Array(64 * 1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  u32(value: number): void {
    this.#view.setUint32(this.#take(4), value, true);
  }

  u64(value: number): void {
    this.#view.setBigUint64(this.#take(8), BigInt(value), true);
  }

  f32(value: number): void {
    this.#view.setFloat32(this.#take(4), value, true);
  }

  string(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.u64(bytes.length);
    this.raw(bytes);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#take(bytes.length); // first: it may replace the array
    this.#bytes.set(bytes, at);
  }

  pad(): void {
    this.#take(aligned(this.#length) - this.#length);
  }

  done(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #take(size: number): number {
    const at = this.#length;
    this.#length += size;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }
}
