import { wellFormed } from "@shedkit/provider/transcript";
import type { BinarySource, ContentPart, JsonValue } from "@shedkit/types";

/** A block of the request's body. */
export type Block = { [key: string]: JsonValue };

/** Parts as blocks. Texts of white space alone are left out: the wire refuses them. */
export function contentBlocks(content: readonly ContentPart[]): Block[] {
  return content.map(contentBlock).filter((block) => block.type !== "text" || String(block.text).trim() !== "");
}

export function textBlock(text: string): Block {
  return { type: "text", text: wellFormed(text) };
}

function contentBlock(part: ContentPart): Block {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "resource") return { type: "text", text: part.text ?? `[resource ${part.uri}]` };
  const source = sourceOf(part.source, part.mediaType);
  if (source !== undefined && part.type === "image") return { type: "image", source };
  if (source !== undefined && part.type === "file") {
    const title = part.name === undefined ? {} : { title: part.name };
    if (part.mediaType === "application/pdf") return { type: "document", source, ...title };
    if (part.mediaType.startsWith("text/") && part.source.type === "base64") {
      const data = new TextDecoder().decode(bytesOf(part.source.data));
      return { type: "document", source: { type: "text", media_type: "text/plain", data }, ...title };
    }
  }
  const where = part.source.type === "url" ? ` at ${part.source.url}` : "";
  return { type: "text", text: `[${part.type} ${part.name ?? ""}(${part.mediaType})${where}, not shown]` };
}

function sourceOf(source: BinarySource, mediaType: string): Block | undefined {
  if (source.type === "url") return { type: "url", url: source.url };
  if (source.type === "base64") return { type: "base64", media_type: mediaType, data: source.data };
  return undefined;
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
