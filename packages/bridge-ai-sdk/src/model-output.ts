import type { BinarySource, ContentPart } from "@shedkit/types";
import type { ToolResultPart } from "ai";
import type { AiSdkModelOutput, AiSdkModelPart } from "./schema.js";

/** What the AI SDK gives to a model of a tool's result. */
export type ModelOutput = ToolResultPart["output"];
type ModelPart = (ModelOutput & { type: "content" })["value"][number];

/** Parts of ours as the AI SDK has them. */
export function toModelOutput(content: readonly ContentPart[], errorDetail: string | undefined): AiSdkModelOutput {
  const texts = content.map((part) => (part.type === "text" ? part.text : undefined));
  const text = texts.filter((each) => each !== undefined).join("\n");
  if (errorDetail !== undefined) return { type: "error-text", value: text || errorDetail };
  if (!texts.includes(undefined)) return { type: "text", value: text };
  return { type: "content", value: content.map(partOf) };
}

function partOf(part: ContentPart): AiSdkModelPart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "resource") return { type: "text", text: part.text ?? `[resource ${part.uri}]` };
  const { source, mediaType, name } = part;
  if (source.type === "blob") return { type: "text", text: `[${name ?? part.type} (${mediaType}) left out]` };
  if (source.type === "url" && !URL.canParse(source.url)) {
    return { type: "text", text: `[${name ?? part.type} (${mediaType}) at what is no address]` };
  }
  const data = source.type === "url" ? { type: "url" as const, url: new URL(source.url) } : base64(source.data);
  return { type: "file", data, mediaType, ...(name !== undefined && { filename: name }) };
}

function base64(data: string) {
  return { type: "data" as const, data };
}

/** What the AI SDK would have given to a model, as parts of ours. */
export function fromModelOutput(output: ModelOutput): { content: readonly ContentPart[]; errorDetail?: string } {
  switch (output.type) {
    case "text":
      return { content: [text(output.value)] };
    case "json":
      return { content: [text(JSON.stringify(output.value))] };
    case "error-text":
      return { content: [text(output.value)], errorDetail: firstLine(output.value) };
    case "error-json":
      return { content: [text(JSON.stringify(output.value))], errorDetail: firstLine(JSON.stringify(output.value)) };
    case "execution-denied":
      return { content: [text(output.reason ?? "The call was denied.")], errorDetail: "denied" };
    case "content":
      return { content: output.value.map(contentOf) };
    default:
      throw new TypeError(`its toModelOutput gave what is no output: ${JSON.stringify(output)?.slice(0, 200)}`);
  }
}

function contentOf(part: ModelPart): ContentPart {
  switch (part.type) {
    case "text":
      return text(part.text);
    case "file": {
      const { data, mediaType, filename } = part;
      if (data.type === "text") return text(data.text);
      if (data.type === "reference") return text(`[file ${filename ?? mediaType}]`);
      return binary(data.type === "url" ? url(String(data.url)) : bytes(data.data), mediaType, filename);
    }
    case "file-data":
    case "image-data":
      return binary(bytes(part.data), part.mediaType, "filename" in part ? part.filename : undefined);
    case "file-url":
      return binary(url(part.url), part.mediaType ?? "application/octet-stream", undefined);
    case "image-url":
      return binary(url(part.url), "image/*", undefined);
    default:
      return text(`[a part of type ${part.type}]`);
  }
}

function binary(source: BinarySource, mediaType: string, name: string | undefined): ContentPart {
  const type = mediaType.startsWith("image/") ? "image" : mediaType.startsWith("audio/") ? "audio" : "file";
  return { type, source, mediaType, ...(name !== undefined && { name }) };
}

function bytes(data: unknown): BinarySource {
  if (typeof data === "string") return { type: "base64", data };
  const view = data instanceof ArrayBuffer ? new Uint8Array(data) : (data as Uint8Array);
  let binaryText = "";
  for (let at = 0; at < view.length; at += CHUNK) binaryText += String.fromCharCode(...view.subarray(at, at + CHUNK));
  return { type: "base64", data: btoa(binaryText) };
}

const CHUNK = 8192;

function url(address: string): BinarySource {
  return { type: "url", url: address };
}

function text(value: string): ContentPart {
  return { type: "text", text: value };
}

function firstLine(value: string): string {
  return value.split("\n", 1)[0] || "it failed";
}
