import type { BinarySource, ContentPart, JsonValue } from "@shedkit/types";

/** An item, or a part of one, of the request's body. */
export type Item = { [key: string]: JsonValue };

/** Parts of a user's message or of a call's output. */
export function inputParts(content: readonly ContentPart[]): Item[] {
  return content.map(inputPart);
}

function inputPart(part: ContentPart): Item {
  if (part.type === "text") return { type: "input_text", text: part.text };
  if (part.type === "resource") return { type: "input_text", text: part.text ?? `[resource ${part.uri}]` };
  const url = urlOf(part.source, part.mediaType);
  if (url !== undefined && part.type === "image") return { type: "input_image", image_url: url, detail: "auto" };
  if (url !== undefined && part.type === "file") {
    if (part.source.type === "url") return { type: "input_file", file_url: url };
    return { type: "input_file", filename: part.name ?? "file", file_data: url };
  }
  const where = part.source.type === "url" ? ` at ${part.source.url}` : "";
  return { type: "input_text", text: `[${part.type} ${part.name ?? ""}(${part.mediaType})${where}, not shown]` };
}

function urlOf(source: BinarySource, mediaType: string): string | undefined {
  if (source.type === "url") return source.url;
  return source.type === "base64" ? `data:${mediaType};base64,${source.data}` : undefined;
}
