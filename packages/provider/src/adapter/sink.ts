import {
  type FinishReason,
  type JsonValue,
  type ModelOutput,
  newId,
  type ProviderData,
  type ToolArguments,
  type Usage,
} from "@shedkit/types";
import type { ModelEvent } from "../contract.js";
import { readCallArguments } from "./arguments.js";

/** How the wire's names and arguments become the tool's own. */
export interface CallReading {
  name(wireName: string): string;
  /** `wireName` is what the wire called the tool. */
  decode(wireName: string, args: ToolArguments): ToolArguments;
  /** Whether a tool of that name is declared. */
  declares(wireName: string): boolean;
}

/** What a block gathers beside its text. */
export interface BlockExtras {
  signature?: string | undefined;
  redacted?: string | undefined;
  citations?: readonly JsonValue[] | undefined;
  providerData?: ProviderData | undefined;
}

interface Block extends BlockExtras {
  index: number;
  type: "text" | "thinking" | "refusal" | "toolCall";
  text: string;
  id: string;
  providerCallId: string;
  wireName: string;
}

/** The key under which a wire knows a block. */
export type BlockKey = string | number;

/**
 * Builds the events of an answer from what a wire says. Blocks are known by the wire's own keys; their texts are
 * gathered as they come, and each is closed once. What is in `events` is taken out by its reader.
 */
export class AnswerSink {
  /** Events not yet taken. */
  readonly events: ModelEvent[] = [];
  finished: FinishReason | undefined;
  /** What the wire said that is not known; told with the end. */
  readonly warnings: { message: string }[] = [];
  /** Set where the wire's text is not the answer itself: it is then held back until its block is whole. */
  decodeText: ((text: string) => string) | undefined;
  #usage: Usage | undefined;
  #next = 0;
  #hasCalls = false;
  readonly #open = new Map<BlockKey, Block>();
  /** The block that something came for last: deltas of one block come in a row. */
  #lastKey: BlockKey | undefined;
  #last: Block | undefined;
  readonly #callIds = new Set<string>();
  readonly #calls: CallReading;
  readonly #price: (usage: Usage) => Usage;

  constructor(calls: CallReading, price: (usage: Usage) => Usage) {
    this.#calls = calls;
    this.#price = price;
  }

  /** Notes a reason for the end that the wire's documents do not have. */
  unknownReason(reason: string, takenFor: FinishReason): FinishReason {
    this.warnings.push({
      message: `the answer ended for "${reason}", which is not known; it is taken for ${takenFor}`,
    });
    return takenFor;
  }

  /** Whether the answer has a call, whole or begun. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** Whether anything of the answer has come. */
  get begun(): boolean {
    return this.#next > 0;
  }

  text(key: BlockKey, text: string): void {
    if (text === "") return;
    const block = this.#block(key, "text");
    block.text += text;
    if (this.decodeText === undefined) this.events.push({ type: "textDelta", block: block.index, text });
  }

  thinking(key: BlockKey, text: string): void {
    if (text === "") return;
    const block = this.#block(key, "thinking");
    block.text += text;
    this.events.push({ type: "thinkingDelta", block: block.index, text });
  }

  /** What the model would not say; shown as text. */
  refusal(key: BlockKey, text: string): void {
    if (text === "") return;
    const block = this.#block(key, "refusal");
    block.text += text;
    this.events.push({ type: "textDelta", block: block.index, text });
  }

  /** Begins a call. An id that is empty, `"null"` or used in this answer is replaced by one of ours. */
  call(key: BlockKey, providerCallId: string, wireName: string): void {
    const usable = providerCallId !== "" && providerCallId !== "null" && !this.#callIds.has(providerCallId);
    const block = this.#block(key, "toolCall");
    block.id = usable ? providerCallId : `call_${newId()}`;
    block.providerCallId = providerCallId;
    block.wireName = wireName;
    this.#callIds.add(block.id);
    this.#hasCalls = true;
    this.events.push({ type: "toolCallStart", block: block.index, id: block.id, name: this.#calls.name(wireName) });
  }

  callDelta(key: BlockKey, json: string): void {
    const block = this.#known(key);
    if (block === undefined || json === "") return;
    block.text += json;
    this.events.push({ type: "toolCallDelta", block: block.index, json });
  }

  /** The text of the block so far; undefined where it is not open. */
  textOf(key: BlockKey): string | undefined {
    return this.#known(key)?.text;
  }

  /** Notes what stands beside the text; begins an empty thinking block where there is none. */
  extras(key: BlockKey, extras: BlockExtras, type: "text" | "thinking" = "thinking"): void {
    Object.assign(this.#block(key, type), extras);
  }

  /** Closes a block. `whole` is the text where the wire repeats it, and counts for more than what was gathered. */
  close(key: BlockKey, whole?: string): void {
    const block = this.#open.get(key);
    if (block === undefined) return;
    this.#open.delete(key);
    this.#last = undefined;
    const held = block.type === "text" && this.decodeText !== undefined;
    const sent = whole ?? block.text;
    const text = held ? (this.decodeText?.(sent) ?? sent) : sent;
    if (held && text !== "") this.events.push({ type: "textDelta", block: block.index, text });
    if (text === "" && block.type !== "toolCall" && !block.signature && !block.redacted && !block.providerData) return;
    const calls = block.type === "toolCall" ? this.#wrapped(block, text) : undefined;
    if (calls === undefined) {
      this.events.push({ type: "output", block: block.index, output: this.#output(block, text) });
      return;
    }
    for (const [i, { name, json }] of calls.entries()) {
      const index = i === 0 ? block.index : this.#next++;
      const one = { ...block, wireName: name, ...(i > 0 && { id: `call_${newId()}`, providerCallId: "" }) };
      this.events.push({ type: "output", block: index, output: this.#output(one, json) });
    }
  }

  /** The calls that a model wrapped into one of a tool that nobody declared: its habit for calls in parallel. */
  #wrapped(block: Block, text: string): { name: string; json: string }[] | undefined {
    if (!/^(multi_tool_use([._]parallel)?|parallel)$/.test(block.wireName)) return undefined;
    if (this.#calls.declares(block.wireName)) return undefined;
    const uses = readCallArguments(text).arguments?.tool_uses;
    if (!Array.isArray(uses) || uses.length === 0) return undefined;
    return uses.map((use: JsonValue) => {
      const { recipient_name, parameters } = use as { recipient_name?: JsonValue; parameters?: JsonValue };
      return { name: String(recipient_name).replace(/^functions\./, ""), json: JSON.stringify(parameters ?? {}) };
    });
  }

  /** A block that came whole. */
  output(output: ModelOutput): void {
    this.events.push({ type: "output", block: this.#next++, output });
  }

  /** Forgets blocks that are open: the server began anew. */
  forgetOpen(): void {
    this.#open.clear();
    this.#last = undefined;
  }

  /** Counts so far; what a later report leaves out stays. */
  usage(usage: Partial<Usage>): void {
    const before = this.#usage ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0 };
    const now = { ...before, ...usage };
    this.#usage = { ...now, total: now.input + now.output + now.cacheRead + now.cacheWrite };
  }

  /** The counts, priced; undefined where the provider reported none. */
  get reported(): Usage | undefined {
    return this.#usage === undefined ? undefined : this.#price(this.#usage);
  }

  /** Closes what is open: all of it when the answer is whole, texts and thinking alone when it broke off. */
  end(whole: boolean): void {
    for (const [key, block] of [...this.#open].sort(([, a], [, b]) => a.index - b.index)) {
      if (whole || block.type !== "toolCall") this.close(key);
    }
    this.forgetOpen();
  }

  #block(key: BlockKey, type: Block["type"]): Block {
    const known = this.#known(key);
    if (known !== undefined) return known;
    const block: Block = { index: this.#next++, type, text: "", id: "", providerCallId: "", wireName: "" };
    this.#open.set(key, block);
    return block;
  }

  #known(key: BlockKey): Block | undefined {
    if (this.#last !== undefined && key === this.#lastKey) return this.#last;
    this.#lastKey = key;
    this.#last = this.#open.get(key);
    return this.#last;
  }

  #output(block: Block, text: string): ModelOutput {
    const data = block.providerData === undefined ? {} : { providerData: block.providerData };
    const signature = block.signature ? { signature: block.signature } : {};
    switch (block.type) {
      case "text":
        return { type: "text", text, ...signature, ...(block.citations && { citations: block.citations }), ...data };
      case "thinking":
        return { type: "thinking", text, ...signature, ...(block.redacted && { redacted: block.redacted }), ...data };
      case "refusal":
        return { type: "refusal", text, ...data };
      case "toolCall": {
        const read = readCallArguments(text);
        const args = read.arguments && { arguments: this.#calls.decode(block.wireName, read.arguments) };
        const { id, providerCallId } = block;
        const name = this.#calls.name(block.wireName);
        return { type: "toolCall", id, ...(providerCallId && { providerCallId }), name, ...read, ...args, ...data };
      }
    }
  }
}
