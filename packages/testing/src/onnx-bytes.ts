/** What a tensor of an ONNX file holds. */
type OnnxType = "float" | "int64";

/** A tensor with its values. */
export interface OnnxTensor {
  name: string;
  shape: readonly number[];
  values: Float32Array | BigInt64Array;
}

/** An input or output of a graph; a text in its shape names a size that differs from call to call. */
interface OnnxValue {
  name: string;
  type: OnnxType;
  shape: readonly (number | string)[];
}

/** A step of a graph. */
interface OnnxNode {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  /** Whole numbers by name. */
  attributes?: { readonly [name: string]: number } | undefined;
}

export interface OnnxGraph {
  nodes: readonly OnnxNode[];
  tensors: readonly OnnxTensor[];
  inputs: readonly OnnxValue[];
  outputs: readonly OnnxValue[];
}

const IR_VERSION = 8;
const OPERATORS = 13;
const TYPE: { readonly [type in OnnxType]: number } = { float: 1, int64: 7 };
const ATTRIBUTE_INT = 2;

/** A whole ONNX file: a graph in the protocol buffers of the format. */
export function writeOnnx(graph: OnnxGraph): Uint8Array {
  const graphBytes = message(
    ...graph.nodes.map((node) => field(1, nodeBytes(node))),
    field(2, text("graph")),
    ...graph.tensors.map((tensor) => field(5, tensorBytes(tensor))),
    ...graph.inputs.map((value) => field(11, valueBytes(value))),
    ...graph.outputs.map((value) => field(12, valueBytes(value))),
  );
  return message(number(1, IR_VERSION), field(7, graphBytes), field(8, message(number(2, OPERATORS))));
}

function nodeBytes({ op, inputs, outputs, attributes = {} }: OnnxNode): Uint8Array {
  return message(
    ...inputs.map((name) => field(1, text(name))),
    ...outputs.map((name) => field(2, text(name))),
    field(4, text(op)),
    ...Object.entries(attributes).map(([name, value]) =>
      field(5, message(field(1, text(name)), number(3, value), number(20, ATTRIBUTE_INT))),
    ),
  );
}

function tensorBytes({ name, shape, values }: OnnxTensor): Uint8Array {
  const type = values instanceof Float32Array ? "float" : "int64";
  return message(
    ...shape.map((size) => number(1, size)),
    number(2, TYPE[type]),
    field(8, text(name)),
    field(9, new Uint8Array(values.buffer, values.byteOffset, values.byteLength)),
  );
}

function valueBytes({ name, type, shape }: OnnxValue): Uint8Array {
  const sizes = shape.map((size) =>
    field(1, typeof size === "number" ? message(number(1, size)) : message(field(2, text(size)))),
  );
  const tensor = message(number(1, TYPE[type]), field(2, message(...sizes)));
  return message(field(1, text(name)), field(2, message(field(1, tensor))));
}

function field(id: number, bytes: Uint8Array): Uint8Array {
  return message(varint(id * 8 + 2), varint(bytes.length), bytes);
}

function number(id: number, value: number): Uint8Array {
  return message(varint(id * 8), varint(value));
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function message(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
