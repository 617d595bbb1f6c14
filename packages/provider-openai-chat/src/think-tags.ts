const TAGS = ["think", "thinking", "reasoning", "REASONING_SCRATCHPAD"] as const;
const OPENINGS = TAGS.map((tag) => `<${tag}>`);

/** A piece of an answer's text. */
export type TextPiece = { kind: "text" | "thinking"; text: string };

/**
 * Splits thinking in tags from an answer's text as it streams. Tags count at the beginning of the answer alone: later
 * they are what the model talks about. What may still become a tag is held back.
 */
export class ThinkTags {
  #state: "start" | "opened" | "thinking" | "closed" | "text" = "start";
  #held = "";
  #closing = "";

  /** No tag counts any more: whatever comes is text. */
  get over(): boolean {
    return this.#state === "text";
  }

  push(text: string): TextPiece[] {
    if (this.over) return [{ kind: "text", text }];
    this.#held += text;
    return this.#advance();
  }

  /** What was held back when the answer ended. */
  flush(): TextPiece[] {
    const thinking = this.#state === "opened" || this.#state === "thinking";
    const text = this.#state === "closed" ? "" : this.#take(this.#held.length);
    return text === "" ? [] : [{ kind: thinking ? "thinking" : "text", text }];
  }

  #advance(): TextPiece[] {
    if (this.#state === "start") {
      const rest = this.#held.trimStart();
      const opening = OPENINGS.find((tag) => rest.startsWith(tag));
      if (opening === undefined) return OPENINGS.some((tag) => tag.startsWith(rest)) ? [] : this.#plain();
      this.#state = "opened";
      this.#closing = `</${opening.slice(1)}`;
      this.#held = rest.slice(opening.length);
    }
    if (this.#state === "opened") {
      if (this.#held === "") return [];
      this.#state = "thinking";
      if (this.#held.startsWith("\n")) this.#take(1); // the line break of the tag, not of the thought
    }
    if (this.#state === "thinking") return this.#think();
    return this.#closed();
  }

  #think(): TextPiece[] {
    const end = this.#held.indexOf(this.#closing);
    if (end < 0) {
      const text = this.#take(this.#held.length - overlap(this.#held, this.#closing));
      return text === "" ? [] : [{ kind: "thinking", text }];
    }
    const text = this.#take(end);
    this.#take(this.#closing.length);
    this.#state = "closed";
    return [...(text === "" ? [] : [{ kind: "thinking", text } as const]), ...this.#closed()];
  }

  /** Between the thinking and the text: blank lines that belong to neither. */
  #closed(): TextPiece[] {
    this.#held = this.#held.trimStart();
    return this.#held === "" ? [] : this.#plain();
  }

  #plain(): TextPiece[] {
    this.#state = "text";
    const text = this.#take(this.#held.length);
    return text === "" ? [] : [{ kind: "text", text }];
  }

  #take(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }
}

/** How much of the end of `text` may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
