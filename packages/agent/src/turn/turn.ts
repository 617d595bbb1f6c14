import {
  AgenticError,
  addUsage,
  type SerializedError,
  type SessionRecord,
  type ToolCallOutput,
  type ToolResultMessage,
  type Usage,
} from "@shedkit/types";

/** How a turn ended. */
export type TurnOutcome = { type: "completed" } | { type: "failed"; error: AgenticError };

/** What a completed turn came to. */
export interface TurnSummary {
  /** Messages that the turn added to the conversation. */
  messageCount: number;
  usage: Usage;
}

/** A finished turn: its records in order, partial output first, then the error that ended it. */
export class Turn implements Iterable<SessionRecord> {
  readonly id: string;
  /** What was retracted is left out. */
  readonly records: readonly SessionRecord[];
  readonly outcome: TurnOutcome;

  constructor(id: string, records: readonly SessionRecord[], outcome: TurnOutcome) {
    this.id = id;
    this.records = withoutRetracted(records);
    this.outcome = outcome;
  }

  get length(): number {
    return this.records.length;
  }

  /** As `Array.prototype.at`. */
  at(index: number): SessionRecord | undefined {
    return this.records.at(index);
  }

  [Symbol.iterator](): IterableIterator<SessionRecord> {
    return this.records[Symbol.iterator]();
  }

  /** The model's text, joined over all steps. */
  get text(): string {
    return this.records.map(textOfRecord).join("");
  }

  /** The error that ended the turn; the records before it stand. */
  get failure(): AgenticError | undefined {
    return this.outcome.type === "failed" ? this.outcome.error : undefined;
  }

  /** The tokens of all steps, also of a turn that failed. Absent when no model was asked. */
  get usage(): Usage | undefined {
    let usage: Usage | undefined;
    for (const record of this.records) {
      if (record.type === "step") usage = usage ? addUsage(usage, record.usage) : record.usage;
    }
    return usage;
  }

  /** The model's text in one record; empty for any other. */
  textOf(record: SessionRecord): string {
    return textOfRecord(record);
  }

  /** The calls that the model made. */
  toolCalls(): ToolCallOutput[] {
    return this.records.flatMap((record) =>
      record.type === "conversation" && record.message.type === "assistant" && record.message.output.type === "toolCall"
        ? [record.message.output]
        : [],
    );
  }

  toolResults(): ToolResultMessage[] {
    return this.records.flatMap((record) =>
      record.type === "conversation" && record.message.type === "toolResult" ? [record.message] : [],
    );
  }
}

/** The model's text in a record; empty for any other. */
export function textOfRecord(record: SessionRecord): string {
  if (record.type !== "conversation" || record.message.type !== "assistant") return "";
  const { output } = record.message;
  return output.type === "text" ? output.text : "";
}

/** The errors of this process by what the log holds of them: whoever follows a turn gets the very one. */
const recorded = new WeakMap<SerializedError, AgenticError>();

/** An error as the log holds it. */
export function recordedError(error: AgenticError): SerializedError {
  const serialized = error.toJSON();
  recorded.set(serialized, error);
  return serialized;
}

/** The error behind a record: the very one where it was made in this process, else one that says the same. */
export function reviveError(serialized: SerializedError): AgenticError {
  const error = recorded.get(serialized);
  if (error) return error;
  const { code, message, details, status, causes } = serialized;
  const cause = causes.reduceRight<Error | undefined>(
    (inner, { name, message }) => withoutStack(new Error(message, inner && { cause: inner }), name),
    undefined,
  );
  const options = { ...(cause && { cause }), ...(status !== undefined && { status }) };
  return withoutStack(
    new AgenticError(code as AgenticError["code"], message, details as AgenticError["details"], options),
    "AgenticError",
  );
}

/** Where an error was read from a log says nothing about where it came from. */
function withoutStack<E extends Error>(error: E, name: string): E {
  if (error.name !== name) error.name = name;
  error.stack = `${name}: ${error.message}`;
  return error;
}

function withoutRetracted(records: readonly SessionRecord[]): readonly SessionRecord[] {
  if (!records.some((record) => record.type === "retracted")) return records;
  const retracted = new Set(records.flatMap((record) => (record.type === "retracted" ? record.messageIds : [])));
  if (retracted.size === 0) return records;
  return records.filter((record) => record.type !== "conversation" || !retracted.has(record.message.id));
}
