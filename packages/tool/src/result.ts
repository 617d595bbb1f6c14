import { type ContentPart, type JsonValue, textOfContent } from "@shedkit/types";

const MARK = Symbol.for("shedkit.ToolCallResult");

/** What a call came to: content for the model, and the structured output where the tool has one. */
export class ToolCallResult {
  readonly content: readonly ContentPart[];
  readonly output?: JsonValue | undefined;
  /** Present when the call failed in an expected way: what failed, in a few words (it is cut after 500 characters). */
  readonly errorDetail?: string | undefined;

  constructor(
    content: readonly ContentPart[],
    extra: { output?: JsonValue | undefined; errorDetail?: string | undefined } = {},
  ) {
    this.content = content;
    if (extra.output !== undefined) this.output = extra.output;
    if (extra.errorDetail !== undefined) this.errorDetail = inFewWords(extra.errorDetail);
  }

  static {
    Object.defineProperty(ToolCallResult.prototype, MARK, { value: true });
  }

  /** Works by a marker, so that two copies of this package agree. */
  static is(value: unknown): value is ToolCallResult {
    return typeof value === "object" && value !== null && MARK in value;
  }

  /** A plain text. */
  static text(text: string): ToolCallResult {
    return new ToolCallResult([{ type: "text", text }]);
  }

  /** An expected failure. The model reads `text`, by default the detail itself. */
  static failure(errorDetail: string, text: string = errorDetail): ToolCallResult {
    return new ToolCallResult([{ type: "text", text }], { errorDetail });
  }

  /** The text parts, joined by line feeds. */
  get text(): string {
    return textOfContent(this.content);
  }
}

const MAX_DETAIL = 500;

/** The detail goes into every record of the call; the whole is for the content. */
function inFewWords(detail: string): string {
  if (typeof detail !== "string" || detail.length <= MAX_DETAIL) return detail;
  return `${detail.slice(0, MAX_DETAIL).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
