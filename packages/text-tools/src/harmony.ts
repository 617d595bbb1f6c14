import { readArguments } from "./call-events.js";
import type { TemplateMessage } from "./chat-template.js";
import type { TextEvent, TextParser, TextToolFamily } from "./family.js";
import { family } from "./family-style.js";
import { headerGrammar } from "./header-calls.js";
import { firstMark, overlap } from "./marks.js";

const MESSAGE = "<|message|>";
/** What ends the header or the body of a message. */
const ENDS = ["<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"];
const RECIPIENT = /to=functions\.([\w.-]+)/;

/** gpt-oss: messages on channels; thinking on `analysis`, calls on `commentary`, addressed to `functions.name`. */
export const harmony: TextToolFamily = family({
  id: "harmony",
  thinkingEnd: "<|end|><|start|>assistant",
  format: () => ({ calls: [] }),
  parser: () => new HarmonyParser(),
  grammar(tools, begun) {
    const name = begun && RECIPIENT.exec(begun.mark)?.[1];
    const called = name === undefined ? tools : tools.filter((tool) => tool.name === name);
    return headerGrammar(called, begun?.text ?? "", () => "ws", "");
  },
  mark: "<|channel|>commentary",
  example: '<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{"its": "arguments"}<|call|>',
  messages: { oneCallEach: true },
  rewrite: withThinking,
});

/** Its template reads `thinking`, and takes either that or a text beside a call. */
function withThinking(messages: readonly TemplateMessage[]): TemplateMessage[] {
  return messages.map((message) => {
    const { reasoning_content: thinking, ...rest } = message;
    if (thinking === undefined || (rest.tool_calls && rest.content !== "")) return rest;
    return { ...rest, thinking };
  });
}

type Body = { type: "text" | "thinking" } | { type: "call"; name: string; header: string };

class HarmonyParser implements TextParser {
  #held = "";
  #header = "";
  #body: Body | undefined;
  #args = "";
  #empty = true; // nothing but space yet in this block

  get call(): { mark: string; text: string } | undefined {
    return this.#body?.type === "call" ? { mark: this.#body.header, text: this.#args + this.#held } : undefined;
  }

  get thinking(): boolean {
    return this.#body === undefined || this.#body.type === "thinking";
  }

  push(text: string): TextEvent[] {
    const events: TextEvent[] = [];
    this.#held += text;
    while (this.#body ? this.#readBody(events) : this.#readHeader(events));
    return events;
  }

  end(): TextEvent[] {
    const events: TextEvent[] = [];
    if (this.#body) {
      this.#say(events, this.#body.type === "call" ? this.#held : this.#held.trimEnd());
      this.#close(events);
    } else {
      // A model that forgot its channels meant what it said.
      const text = (this.#header + this.#held).trim();
      if (text !== "" && !ENDS.some((mark) => text.includes(mark))) events.push({ type: "text", text });
    }
    this.#held = "";
    return events;
  }

  #readHeader(events: TextEvent[]): boolean {
    const at = this.#held.indexOf(MESSAGE);
    if (at < 0) {
      const safe = Math.max(0, this.#held.length - MESSAGE.length + 1);
      this.#header += this.#held.slice(0, safe);
      this.#held = this.#held.slice(safe);
      return false;
    }
    const header = this.#header + this.#held.slice(0, at);
    this.#held = this.#held.slice(at + MESSAGE.length);
    this.#header = "";
    const name = RECIPIENT.exec(header)?.[1];
    this.#empty = true;
    this.#args = "";
    if (name !== undefined) {
      this.#body = { type: "call", name, header };
      events.push({ type: "callStart", name });
    } else this.#body = { type: /<\|channel\|>\s*analysis/.test(header) ? "thinking" : "text" };
    return true;
  }

  #readBody(events: TextEvent[]): boolean {
    const isCall = this.#body?.type === "call";
    const found = firstMark(this.#held, ENDS);
    if (!found) {
      const safe = this.#held.length - Math.max(...ENDS.map((mark) => overlap(this.#held, mark)));
      const text = isCall ? this.#held.slice(0, safe) : this.#held.slice(0, safe).trimEnd();
      this.#say(events, text);
      this.#held = this.#held.slice(text.length);
      return false;
    }
    const text = this.#held.slice(0, found.at);
    this.#say(events, isCall ? text : text.trimEnd());
    this.#held = this.#held.slice(found.at + found.mark.length);
    this.#close(events);
    this.#header = found.mark;
    return true;
  }

  #say(events: TextEvent[], raw: string): void {
    const body = this.#body;
    const text = this.#empty ? raw.trimStart() : raw;
    if (!body || text === "") return;
    this.#empty = false;
    if (body.type !== "call") events.push({ type: body.type, text });
    else {
      this.#args += text;
      events.push({ type: "callDelta", json: text });
    }
  }

  #close(events: TextEvent[]): void {
    if (this.#body?.type === "call") {
      const args = this.#args.trim();
      events.push({ type: "call", name: this.#body.name, ...readArguments(args) });
    }
    this.#body = undefined;
  }
}
