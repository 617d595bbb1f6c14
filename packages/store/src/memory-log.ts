import type { FinishReason, Message, SessionRecord, Usage } from "@shedkit/types";

type RecordOf<T extends SessionRecord["type"]> = Extract<SessionRecord, { type: T }>;
type Finished = RecordOf<"toolFinished">;
type Step = RecordOf<"step">;

/** Where a reader is, and the record before. */
interface Place {
  /** In the bytes. */
  offset: number;
  /** In the objects. */
  object: number;
  id: string;
  at: number;
}

/**
 * Records in memory, in order. Most of a session's records are small and many: that a call began, that it ended, what a
 * step cost. They are kept as some ten bytes each instead of 200 to 400: what differs from the record before, and which
 * message they are about. A record of a model's or a tool's message is kept as the message, and the same record is made of
 * it when it is read. All others are kept as they are.
 */
export class MemoryLog {
  /** Messages, and records that are kept whole, in order. */
  readonly #objects: (Message | SessionRecord)[] = [];
  /** All records in order: what kind each is, and what is not in its object. */
  #bytes = new Uint8Array(0);
  /** Where every {@link STRIDE}th record begins, in the bytes and in the objects: reading begins at one of them. */
  readonly #marks: number[] = [];
  #used = 0;
  #length = 0;
  #last = { id: "", at: 0 };

  get length(): number {
    return this.#length;
  }

  push(record: SessionRecord): void {
    if (this.#length % STRIDE === 0) {
      this.#marks.push(this.#used, this.#objects.length);
      this.#last = { id: "", at: 0 };
    }
    this.#makeRoom();
    const start = this.#used;
    if (!this.#pack(record)) {
      this.#used = start;
      this.#bytes[this.#used++] = WHOLE;
      this.#objects.push(record);
    }
    this.#length++;
    this.#last.id = record.id;
    if (isWhole(record.at)) this.#last.at = record.at;
  }

  /** The record at a place, from 0. */
  at(place: number): SessionRecord | undefined {
    for (const record of this.between(place, place + 1)) return record;
    return undefined;
  }

  [Symbol.iterator](): Generator<SessionRecord, void, void> {
    return this.between(0, this.#length);
  }

  /** The records from a place on, up to another; those that are pushed meanwhile are not among them. */
  *between(from: number, to: number): Generator<SessionRecord, void, void> {
    const end = Math.min(to, this.#length);
    const place: Place = { offset: 0, object: 0, id: "", at: 0 };
    for (let i = from - (from % STRIDE); i < end; i++) {
      if (i % STRIDE === 0) {
        const mark = (i / STRIDE) * 2;
        place.offset = this.#marks[mark] ?? 0;
        place.object = this.#marks[mark + 1] ?? 0;
        place.id = "";
        place.at = 0;
      }
      const record = this.#read(place);
      if (i >= from) yield record;
    }
  }

  /** Writes what a record is; false for one that has to be kept whole. */
  #pack(record: SessionRecord): boolean {
    if (record.v !== 1 || !isWhole(record.at)) return false;
    switch (record.type) {
      case "conversation": {
        const { message } = record;
        if (record.id !== message.id || sizeOf(record) !== 5) return false;
        this.#bytes[this.#used++] = MESSAGE;
        if (!this.#time(record.at)) return false;
        this.#objects.push(message);
        return true;
      }
      case "toolStarted":
        return sizeOf(record) === 6 && this.#packCall(STARTED, record);
      case "toolFinished": {
        const outcome = OUTCOMES.indexOf(record.outcome);
        return outcome >= 0 && sizeOf(record) === 7 && this.#packCall(FINISHED + outcome * CHOICE, record);
      }
      case "step":
        return this.#packStep(record);
      default:
        return false;
    }
  }

  #packCall(head: number, record: RecordOf<"toolStarted"> | Finished): boolean {
    const back = this.#back((object) => callIdOf(object) === record.toolCallId);
    return back > 0 && this.#head(head, record) && this.#number(back) && this.#number(record.attempt);
  }

  #packStep(record: Step): boolean {
    const { usage, turnId, stepId, model } = record;
    const finish = FINISHES.indexOf(record.finish);
    if (finish < 0 || sizeOf(record) !== 9 || sizeOf(usage) !== 6) return false;
    const back = this.#back(
      (object) =>
        object.type === "assistant" && object.stepId === stepId && object.turnId === turnId && object.model === model,
    );
    if (back === 0 || !this.#head(STEP + finish * CHOICE, record) || !this.#number(back)) return false;
    for (const part of USAGE) if (!this.#number(usage[part])) return false;
    return true;
  }

  /** How far back the message is that a record is about; 0 where none of the newest is it. */
  #back(is: (object: Message | SessionRecord) => boolean): number {
    const objects = this.#objects;
    const most = Math.min(objects.length, LOOKED_BACK);
    for (let back = 1; back <= most; back++) if (is(objects[objects.length - back] as Message)) return back;
    return 0;
  }

  /** What the small ones have in common: false where it cannot be written. An id differs from the one before at its end. */
  #head(head: number, { id, at }: SessionRecord): boolean {
    const before = this.#last.id;
    let same = 0;
    while (same < id.length && same < before.length && id.charCodeAt(same) === before.charCodeAt(same)) same++;
    if (id.length > LONGEST_ID) return false;
    const bytes = this.#bytes;
    bytes[this.#used++] = head;
    bytes[this.#used++] = same;
    bytes[this.#used++] = id.length - same;
    for (let i = same; i < id.length; i++) {
      const code = id.charCodeAt(i);
      if (code > 255) return false;
      bytes[this.#used++] = code;
    }
    return this.#time(at);
  }

  /** As the difference to the time of the record before. */
  #time(at: number): boolean {
    const since = at - this.#last.at;
    return this.#number(since < 0 ? -since * 2 - 1 : since * 2);
  }

  /** Seven bits a byte, the lowest first. False for what is no whole number from 0 on. */
  #number(value: number): boolean {
    if (!isWhole(value)) return false;
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#used++] = (rest % 128) | 128;
    this.#bytes[this.#used++] = rest;
    return true;
  }

  #makeRoom(): void {
    if (this.#used + LONGEST <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.ceil(this.#bytes.length * 1.25) + LONGEST);
    bytes.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = bytes;
  }

  /** Reads the record at a place and moves on to the next. */
  #read(place: Place): SessionRecord {
    const bytes = this.#bytes;
    const head = bytes[place.offset++] ?? WHOLE;
    const kind = head % CHOICE;
    if (kind === WHOLE) {
      const record = this.#objects[place.object++] as SessionRecord;
      place.id = record.id;
      if (isWhole(record.at)) place.at = record.at;
      return record;
    }
    const next = (): number => {
      let value = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = bytes[place.offset++] ?? 0;
        value += (byte & 127) * scale;
        if (byte < 128) return value;
      }
    };
    const readTime = () => {
      const coded = next();
      place.at += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    };
    if (kind === MESSAGE) {
      readTime();
      const message = this.#objects[place.object++] as Message;
      place.id = message.id;
      return { id: message.id, v: 1, at: place.at, type: "conversation", message };
    }
    const codes: number[] = [];
    const same = bytes[place.offset++] ?? 0;
    for (let i = 0; i < same; i++) codes.push(place.id.charCodeAt(i));
    for (let left = bytes[place.offset++] ?? 0; left > 0; left--) codes.push(bytes[place.offset++] ?? 0);
    // Made in one piece: a string that is put together of characters takes eight times the memory.
    const id = String.fromCharCode(...codes);
    place.id = id;
    readTime();
    const { at } = place;
    const of = this.#objects[place.object - next()] as Message;
    const choice = Math.floor(head / CHOICE);
    if (kind === STEP) {
      const { turnId, stepId, model } = of as Extract<Message, { type: "assistant" }>;
      const usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0 };
      for (const part of USAGE) usage[part] = next();
      return { id, v: 1, at, type: "step", turnId, stepId, model, finish: FINISHES[choice] as FinishReason, usage };
    }
    const toolCallId = callIdOf(of) ?? "";
    const attempt = next();
    if (kind === STARTED) return { id, v: 1, at, type: "toolStarted", toolCallId, attempt };
    const outcome = OUTCOMES[choice] as Finished["outcome"];
    return { id, v: 1, at, type: "toolFinished", toolCallId, attempt, outcome };
  }
}

/** Every so many records, one can be read without those before it. */
const STRIDE = 64;
/** The kinds; above them stands a choice: of an outcome, of a reason. */
const WHOLE = 0;
const MESSAGE = 1;
const STARTED = 2;
const FINISHED = 3;
const STEP = 4;
const CHOICE = 8;
const OUTCOMES: readonly Finished["outcome"][] = ["ok", "error", "cancelled", "skipped", "interrupted"];
const FINISHES: readonly FinishReason[] = ["stop", "length", "toolUse", "refusal", "contentFilter", "pause", "aborted"];
const USAGE = ["input", "output", "cacheRead", "cacheWrite", "reasoning", "total"] as const;
/** What a small record is about stands just before it, or among the calls of the same step. */
const LOOKED_BACK = 256;
const LONGEST_ID = 40;
/** Bytes of the longest record: what all have, and eight numbers. */
const LONGEST = 3 + LONGEST_ID + 9 * 8;

/** The call that a message makes, or is the result of. */
function callIdOf(object: Message | SessionRecord): string | undefined {
  if (object.type === "toolResult") return object.toolCallId;
  return object.type === "assistant" && object.output.type === "toolCall" ? object.output.id : undefined;
}

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
