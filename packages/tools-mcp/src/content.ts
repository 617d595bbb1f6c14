import { asData, jsonEqual } from "@shedkit/tool";
import type { ContentPart, JsonValue } from "@shedkit/types";
import { oneLine } from "./text.js";

/** One block of what a server answers, as far as it is looked at. */
export interface McpBlock {
  type: string;
  text?: string | undefined;
  data?: string | undefined;
  mimeType?: string | undefined;
  uri?: string | undefined;
  name?: string | undefined;
  description?: string | undefined;
  resource?: McpResource | undefined;
}

/** What a resource holds: text, or base64. */
export interface McpResource {
  uri: string;
  mimeType?: string | undefined;
  text?: string | undefined;
  blob?: string | undefined;
}

/** Base64 characters of all pictures and sounds of one answer; a wire refuses far less. */
const MAX_BINARY = 14_000_000;
/** Characters of all texts of one answer that are kept at all; what is shown to a model is cut far earlier. */
const MAX_TEXT = 8_000_000;
const MAX_BLOCKS = 1000;

/**
 * A server's answer as parts for a model. Pictures are passed on only where they are what they say they are: a wire
 * refuses a whole conversation for one that is not.
 */
export function contentOf(blocks: readonly McpBlock[], structured?: JsonValue | undefined): readonly ContentPart[] {
  const left: Allowance = { binary: MAX_BINARY, text: MAX_TEXT };
  const parts = blocks.slice(0, MAX_BLOCKS).flatMap((block) => partsOf(block, left));
  if (blocks.length > MAX_BLOCKS) parts.push(note(`${blocks.length - MAX_BLOCKS} more parts left out`));
  if (structured !== undefined && !saysTheSame(blocks, structured))
    parts.unshift({ type: "text", text: taken(JSON.stringify(structured), left) });
  return parts.length > 0 ? parts : [{ type: "text", text: "Done; the server gave no content." }];
}

interface Allowance {
  binary: number;
  text: number;
}

function partsOf(block: McpBlock, left: Allowance): ContentPart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: taken(block.text ?? "", left) }];
    case "image":
    case "audio":
      return [binary(block.data ?? "", block.mimeType, left, block.type === "image" ? "a picture" : "a sound")];
    case "resource_link": {
      const about = [block.mimeType, block.description].flatMap((text) => (text ? [oneLine(text, 300)] : []));
      const name = oneLine(block.name ?? "", 200);
      return [note([`resource ${oneLine(block.uri ?? "", 2000)}`, name, ...about].filter((text) => text).join(" - "))];
    }
    case "resource":
      return block.resource === undefined ? [] : resourceParts(block.resource, left);
    default:
      return [note(`a part of type ${oneLine(block.type, 50)} left out`)];
  }
}

/** What a model is shown of the contents of a resource. */
function resourceParts({ uri, mimeType, text, blob }: McpResource, left: Allowance): ContentPart[] {
  const head = note(`resource ${oneLine(uri, 2000)}`);
  if (text !== undefined) return [head, { type: "text", text: taken(text, left) }];
  return [head, binary(blob ?? "", mimeType, left, "a file")];
}

export function resourceContent(resources: readonly McpResource[]): readonly ContentPart[] {
  return contentOf(resources.map((resource) => ({ type: "resource", resource })));
}

function note(text: string): ContentPart {
  return { type: "text", text: `[${text}]` };
}

function taken(text: string, left: Allowance): string {
  const fits = text.length <= left.text;
  const kept = asData(fits ? text : text.slice(0, left.text));
  left.text -= Math.min(text.length, left.text);
  return fits ? kept : `${kept}\n[... ${text.length} characters in all; the rest was not kept]`;
}

function binary(data: string, mimeType: string | undefined, left: Allowance, what: string): ContentPart {
  const said = oneLine(mimeType ?? "of no type", 100);
  if (data.length > left.binary) return note(`${what} (${said}) left out: it is too large`);
  if (data === "" || data.length % 4 !== 0 || !BASE64.test(data))
    return note(`${what} (${said}) left out: it is not base64`);
  const image = imageType(data);
  const audio = what === "a sound" && AUDIO.has(said);
  if (image === undefined && !audio) return note(`${what} (${said}, ${data.length} characters of base64) left out`);
  left.binary -= data.length;
  const source = { type: "base64", data } as const;
  return image ? { type: "image", source, mediaType: image } : { type: "audio", source, mediaType: said };
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const AUDIO = new Set(["audio/wav", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/flac", "audio/webm"]);

/** By its first bytes: what models take. */
function imageType(data: string): string | undefined {
  if (data.startsWith("iVBORw0KGgo")) return "image/png";
  if (data.startsWith("/9j/")) return "image/jpeg";
  if (data.startsWith("R0lGOD")) return "image/gif";
  if (data.startsWith("UklGR") && atob(data.slice(8, 16)).endsWith("WEBP")) return "image/webp";
  return undefined;
}

/** Servers are asked to give their structured answer as text too; twice is once too often for a model. */
function saysTheSame(blocks: readonly McpBlock[], structured: JsonValue): boolean {
  return blocks.some(({ type, text }) => {
    if (type !== "text" || text === undefined || text.length > MAX_TEXT) return false;
    try {
      return jsonEqual(JSON.parse(text), structured);
    } catch {
      return false;
    }
  });
}
