import type { ContentPart, JsonValue } from "@shedkit/types";

/**
 * What the model reads of a tool's plain output: parts as they are, alone or in a list; the parts of an object that
 * holds some, after the rest of it as JSON; a string as it is; anything else as JSON.
 */
export function toContent(output: unknown): readonly ContentPart[] {
  if (isPart(output)) return [output];
  if (Array.isArray(output)) {
    if (output.some(isPart)) return output.map((item) => (isPart(item) ? item : textPart(item)));
    return [textPart(output)];
  }
  if (typeof output !== "object" || output === null) return [textPart(output)];
  const entries = Object.entries(output as { [key: string]: JsonValue });
  const parts = entries.flatMap(([, value]) =>
    isPart(value) ? [value] : Array.isArray(value) && value.length > 0 && value.every(isPart) ? value : [],
  );
  if (parts.length === 0) return [textPart(output)];
  const rest = entries.filter(
    ([, value]) => !(isPart(value) || (Array.isArray(value) && value.length > 0 && value.every(isPart))),
  );
  return rest.length === 0 ? parts : [textPart(Object.fromEntries(rest)), ...parts];
}

function textPart(value: unknown): ContentPart {
  if (value === undefined) return { type: "text", text: "Done." };
  return { type: "text", text: typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)) };
}

const SOURCES: { readonly [type: string]: string } = { base64: "data", url: "url", blob: "ref" };

/** Whether a value is a part that can be shown to a model. */
export function isPart(value: unknown): value is ContentPart {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  const part = value as { [key: string]: unknown };
  switch (part.type) {
    case "text":
      return typeof part.text === "string";
    case "image":
    case "audio":
    case "file":
      return typeof part.mediaType === "string" && isSource(part.source);
    case "resource":
      return typeof part.uri === "string" && (part.text === undefined || typeof part.text === "string");
    default:
      return false;
  }
}

function isSource(source: unknown): boolean {
  if (typeof source !== "object" || source === null) return false;
  const { type, ...rest } = source as { [key: string]: unknown };
  const field = typeof type === "string" && Object.hasOwn(SOURCES, type) ? SOURCES[type] : undefined;
  return field !== undefined && typeof rest[field] === "string";
}
