import type { FinishReason, Message, SessionRecord, Usage } from "@shedkit/types";

type RecordOf<T extends SessionRecord["type"]> = Extract<SessionRecord, { type: T }>;
type Finished = RecordOf<"toolFinished">;
type Step = RecordOf<"step">;

/**
 * Records in memory, in order. Most of a session's records are small and many: that a call began, that it ended, what a
 * step cost. They are kept as some 30 bytes each instead of 200 to 400, a record of a model's or a tool's message as the
 * message, and the same record is made of them when it is read. All others are kept as they are.
 */
export class MemoryLog {
  /** Two for each record: itself; its message, and when it was said; or where its bytes are, and what they are of. */
  readonly #entries: unknown[] = [];
  /** When the first record was made: a small difference to it takes no memory of its own. */
  #epoch = 0;
  #bytes = new Uint8Array(0);
  #used = 0;
  /** A step's messages come just before it and name the same turn and model. */
  #lastMessage: Message | undefined;

  get length(): number {
    return this.#entries.length / 2;
  }

  push(record: SessionRecord): void {
    const { type, at } = record;
    if (this.#entries.length === 0 && isWhole(at)) this.#epoch = at;
    if (type === "conversation") {
      const { message } = record;
      this.#lastMessage = message;
      const plain = record.id === message.id && record.v === 1 && sizeOf(record) === 5;
      if (plain && isWhole(at - this.#epoch)) this.#entries.push(message, at - this.#epoch);
      else this.#entries.push(record, undefined);
      return;
    }
    const start = this.#used;
    const of = this.#pack(record);
    if (of === undefined) this.#used = start;
    this.#entries.push(of === undefined ? record : start, of);
  }

  /** The record at a place, from 0. */
  at(place: number): SessionRecord | undefined {
    const head = this.#entries[place * 2];
    const rest = this.#entries[place * 2 + 1];
    if (rest === undefined) return head as SessionRecord | undefined;
    if (typeof head === "number") return this.#unpack(head, rest);
    const message = head as Message;
    return { id: message.id, v: 1, at: this.#epoch + (rest as number), type: "conversation", message };
  }

  *[Symbol.iterator](): Generator<SessionRecord, void, void> {
    for (let place = 0; place < this.length; place++) yield this.at(place) as SessionRecord;
  }

  /** Writes a record's bytes; returns what they are of, or undefined for a record that is kept as it is. */
  #pack(record: SessionRecord): string | Message | undefined {
    this.#makeRoom();
    switch (record.type) {
      case "toolStarted":
        if (sizeOf(record) !== 6) return undefined;
        return this.#head(STARTED, 0, record) && this.#number(record.attempt) ? record.toolCallId : undefined;
      case "toolFinished": {
        const outcome = OUTCOMES.indexOf(record.outcome);
        if (outcome < 0 || sizeOf(record) !== 7) return undefined;
        return this.#head(FINISHED, outcome, record) && this.#number(record.attempt) ? record.toolCallId : undefined;
      }
      case "step":
        return this.#step(record);
      default:
        return undefined;
    }
  }

  #step(record: Step): Message | undefined {
    const message = this.#lastMessage;
    const { usage } = record;
    const finish = FINISHES.indexOf(record.finish);
    const { turnId, stepId, model } = record;
    if (message?.type !== "assistant" || finish < 0 || sizeOf(record) !== 9 || sizeOf(usage) !== 6) return undefined;
    if (message.turnId !== turnId || message.stepId !== stepId || message.model !== model) return undefined;
    if (!this.#head(STEP, finish, record)) return undefined;
    for (const part of USAGE) if (!this.#number(usage[part])) return undefined;
    return message;
  }

  #unpack(start: number, of: unknown): SessionRecord {
    const bytes = this.#bytes;
    const kind = bytes[start] ?? 0;
    const choice = bytes[start + 1] ?? 0;
    let id = "";
    let place = start + 2;
    for (let i = 0, bits = 0, held = 0; i < ID_LENGTH; i++) {
      if (bits < 5) {
        held = (held << 8) | (bytes[place++] ?? 0);
        bits += 8;
      }
      bits -= 5;
      id += DIGITS[(held >> bits) & 31];
      held &= (1 << bits) - 1;
    }
    const next = (): number => {
      let value = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = bytes[place++] ?? 0;
        value += (byte & 127) * scale;
        if (byte < 128) return value;
      }
    };
    const at = this.#epoch + next();
    if (kind === STARTED) return { id, v: 1, at, type: "toolStarted", toolCallId: of as string, attempt: next() };
    if (kind === FINISHED) {
      const outcome = OUTCOMES[choice] as Finished["outcome"];
      return { id, v: 1, at, type: "toolFinished", toolCallId: of as string, attempt: next(), outcome };
    }
    const { turnId, stepId, model } = of as Extract<Message, { type: "assistant" }>;
    const usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0 };
    for (const part of USAGE) usage[part] = next();
    return { id, v: 1, at, type: "step", turnId, stepId, model, finish: FINISHES[choice] as FinishReason, usage };
  }

  /** What all have: false where they cannot be written. */
  #head(kind: number, choice: number, { id, at, v }: SessionRecord): boolean {
    if (v !== 1 || id.length !== ID_LENGTH) return false;
    const bytes = this.#bytes;
    bytes[this.#used++] = kind;
    bytes[this.#used++] = choice;
    let held = 0;
    let bits = 0;
    for (let i = 0; i < ID_LENGTH; i++) {
      const digit = VALUES[id.charCodeAt(i)] ?? -1;
      if (digit < 0) return false;
      held = (held << 5) | digit;
      bits += 5;
      if (bits < 8) continue;
      bits -= 8;
      bytes[this.#used++] = held >> bits;
      held &= (1 << bits) - 1;
    }
    bytes[this.#used++] = held << (8 - bits);
    return this.#number(at - this.#epoch);
  }

  /** Seven bits a byte, the lowest first. False for what is no whole number from 0 on. */
  #number(value: number): boolean {
    if (value > 0 && value < 128 && (value | 0) === value) {
      this.#bytes[this.#used++] = value;
      return true;
    }
    if (!isWhole(value)) return false;
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#used++] = (rest % 128) | 128;
    this.#bytes[this.#used++] = rest;
    return true;
  }

  #makeRoom(): void {
    if (this.#used + LONGEST <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(256, Math.ceil(this.#bytes.length * 1.25)) + LONGEST);
    bytes.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = bytes;
  }
}

const STARTED = 0;
const FINISHED = 1;
const STEP = 2;
const OUTCOMES: readonly Finished["outcome"][] = ["ok", "error", "cancelled", "skipped", "interrupted"];
const FINISHES: readonly FinishReason[] = ["stop", "length", "toolUse", "refusal", "contentFilter", "pause", "aborted"];
const USAGE = ["input", "output", "cacheRead", "cacheWrite", "reasoning", "total"] as const;
/** Ids as `newId` makes them: five bits a character. */
const ID_LENGTH = 26;
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < DIGITS.length; i++) VALUES[DIGITS.charCodeAt(i)] = i;
/** Bytes of the longest record: what all have, and seven numbers more. */
const LONGEST = 2 + 17 + 8 * 8;

/** A whole number from 0 on that can be told exactly. */
function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0);
}

/** How many members an object has: one that has more than is written here is kept as it is. */
function sizeOf(value: object): number {
  let size = 0;
  for (const _ in value) size++;
  return size;
}
