import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { ToolCallOutcome } from "@shedkit/shed";
import type { ContentPart, JsonValue } from "@shedkit/types";

/** What came of a call, as the protocol has it; structured where the tool declares how (`schema`). */
export function toCallResult(
  { content, result, errorDetail, skipped }: ToolCallOutcome,
  schema: object | undefined,
): CallToolResult {
  const output = result?.output;
  const isError = errorDetail !== undefined || skipped !== undefined;
  return {
    content: content.map(blockOf),
    ...(!isError && schema !== undefined && isObject(output) && { structuredContent: output }),
    ...(isError && { isError }),
  };
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function blockOf(part: ContentPart): ContentBlock {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "resource") {
    const { uri, text, mediaType } = part;
    const type = mediaType === undefined ? {} : { mimeType: mediaType };
    return text === undefined
      ? { type: "resource_link", uri, name: uri, ...type }
      : { type: "resource", resource: { uri, text, ...type } };
  }
  const { source, mediaType } = part;
  const name = part.name ?? part.type;
  if (source.type === "url") return { type: "resource_link", uri: source.url, name, mimeType: mediaType };
  if (source.type === "blob") return { type: "text", text: `[${name} (${mediaType}, ${source.bytes} bytes) left out]` };
  if (part.type === "file")
    return {
      type: "resource",
      resource: { uri: `file:///${encodeURIComponent(name)}`, blob: source.data, mimeType: mediaType },
    };
  return { type: part.type, data: source.data, mimeType: mediaType };
}
