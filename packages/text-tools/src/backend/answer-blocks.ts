import type { ModelEvent } from "@shedkit/provider";
import { newId } from "@shedkit/types";
import type { TextEvent } from "../family.js";

/** Numbers the blocks of an answer and finishes each one. */
export class AnswerBlocks {
  /** How many calls were made. */
  calls = 0;
  #block = -1;
  #open: { type: "text" | "thinking"; text: string } | { type: "call"; id: string } | undefined;

  take(event: TextEvent): ModelEvent[] {
    switch (event.type) {
      case "text":
      case "thinking":
        return this.#prose(event.type, event.text);
      case "callStart": {
        const closed = this.close();
        const id = `call_${newId()}`;
        this.#open = { type: "call", id };
        return [...closed, { type: "toolCallStart", block: ++this.#block, id, name: event.name }];
      }
      case "callDelta":
        return [{ type: "toolCallDelta", block: this.#block, json: event.json }];
      case "call": {
        const id = this.#open?.type === "call" ? this.#open.id : `call_${newId()}`;
        const { type: _type, ...call } = event;
        this.#open = undefined;
        this.calls++;
        return [{ type: "output", block: this.#block, output: { type: "toolCall", id, ...call } }];
      }
    }
  }

  /** Finishes the block of text or thinking that is open; a call that did not end is dropped. */
  close(): ModelEvent[] {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined || open.type === "call") return [];
    return [{ type: "output", block: this.#block, output: { type: open.type, text: open.text } }];
  }

  #prose(type: "text" | "thinking", text: string): ModelEvent[] {
    const events: ModelEvent[] = [];
    if (this.#open?.type !== type) {
      events.push(...this.close());
      this.#block++;
      this.#open = { type, text: "" };
    }
    this.#open.text += text;
    events.push({ type: type === "text" ? "textDelta" : "thinkingDelta", block: this.#block, text });
    return events;
  }
}
