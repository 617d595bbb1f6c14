import { escapeTag, type Reminder, type ToolCallResult, type ToolContext } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import type { BoundTool } from "./contract.js";
import { isMet, type RequiredTool } from "./requirement.js";

/** Which reminders there are, and how they are told. */
export interface ReminderSettings {
  /** Reminders that may follow the call of any tool. */
  readonly reminders: readonly Reminder[];
  /** Default: `system-reminder`. */
  readonly tag?: string | undefined;
  /** How much all reminders of one call may add, in bytes of UTF-8. Default: 4,000. */
  readonly maxBytes?: number | undefined;
  /** How long one reminder may think, in milliseconds. Default: 1,000. */
  readonly timeoutMs?: number | undefined;
}

const TAG = "system-reminder";
const MAX_BYTES = 4000;
const TIMEOUT_MS = 1000;

/** Texts that guide the model, appended to the result of a call that went well. */
export class Reminders {
  readonly tag: string;
  readonly #settings: ReminderSettings;
  #said: Map<string, number> | undefined;
  #calls = 0;

  constructor(settings: ReminderSettings) {
    this.#settings = settings;
    this.tag = settings.tag ?? TAG;
  }

  /**
   * What there is to say after a call, wrapped: higher priority first, each key once, none that was said in the last
   * `cooldownCalls` calls, no more than the bytes allow. A reminder that fails or dawdles says nothing; nor does one whose
   * requirement the tools that are `there` do not meet.
   */
  collect(
    tool: BoundTool,
    ctx: ToolContext,
    result: ToolCallResult,
    there: () => readonly RequiredTool[] = () => [],
  ): string | Promise<string> {
    const call = ++this.#calls;
    if (this.#settings.reminders.length === 0 && tool.metadata.reminders === undefined) return "";
    return this.#collect(call, tool, ctx, result, there);
  }

  #collect(
    call: number,
    tool: BoundTool,
    ctx: ToolContext,
    result: ToolCallResult,
    there: () => readonly RequiredTool[],
  ): string | Promise<string> {
    const inForce = [
      ...this.#settings.reminders.filter((reminder) => isInForce(reminder, there, {})),
      ...(tool.metadata.reminders ?? []).filter((reminder) => isInForce(reminder, there, tool.params ?? {})),
    ];
    if (inForce.length === 0) return "";
    const ordered = inForce.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
    const answers = ordered.map((reminder) => this.#ask(reminder, ctx, result));
    if (answers.every(isReady)) return this.#told(call, ordered, answers);
    return Promise.all(answers).then((all) => this.#told(call, ordered, all));
  }

  #told(call: number, ordered: readonly Reminder[], answers: readonly (readonly Said[])[]): string {
    if (answers.every((said) => said.length === 0)) return "";
    const parts: string[] = [];
    const keys = new Set<string>();
    let left = this.#settings.maxBytes ?? MAX_BYTES;
    for (const [i, reminder] of ordered.entries()) {
      let own = Math.min(left, reminder.maxBytes ?? left);
      for (const { key, text } of answers[i] ?? []) {
        const name = `${reminder.id} ${key}`;
        if (keys.has(name) || this.#isTooSoon(name, reminder.cooldownCalls ?? 0, call)) continue;
        const part = wrap(this.tag, text);
        const size = new TextEncoder().encode(part).length;
        if (size > own) continue;
        own -= size;
        left -= size;
        keys.add(name);
        this.#said ??= new Map();
        this.#said.set(name, call);
        parts.push(part);
      }
    }
    return parts.join("\n\n");
  }

  #isTooSoon(name: string, cooldown: number, call: number): boolean {
    const last = this.#said?.get(name);
    return last !== undefined && call - last <= cooldown;
  }

  /** An answer that is there at once costs no timer, and no turn of the event loop. */
  #ask(reminder: Reminder, ctx: ToolContext, result: ToolCallResult): readonly Said[] | Promise<readonly Said[]> {
    try {
      const answer = reminder.collect(ctx, result);
      return isReady(answer) ? answer : this.#inTime(answer);
    } catch {
      return []; // the call itself went well
    }
  }

  async #inTime(answer: PromiseLike<readonly Said[]>): Promise<readonly Said[]> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<readonly Said[]>((resolve) => {
      timer = setTimeout(() => resolve([]), this.#settings.timeoutMs ?? TIMEOUT_MS);
    });
    try {
      return await Promise.race([answer, late]);
    } catch {
      return [];
    } finally {
      clearTimeout(timer);
    }
  }
}

function isReady(answer: readonly Said[] | PromiseLike<readonly Said[]>): answer is readonly Said[] {
  return Array.isArray(answer);
}

function isInForce({ requires }: Reminder, there: () => readonly RequiredTool[], own: JsonValue): boolean {
  return requires === undefined || isMet(requires, there(), own);
}

interface Said {
  readonly key: string;
  readonly text: string;
}

function wrap(tag: string, text: string): string {
  return `<${tag}>\n${escapeTag(text, tag)}\n</${tag}>`;
}
