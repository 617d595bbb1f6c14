import type { ToolCallManager } from "@shedkit/shed";
import { AgenticError, type Message, type ModelOutput, type ToolCallOutput, textOfContent } from "@shedkit/types";
import type { LoopDetectionConfig } from "../config.js";
import type { OpenCall } from "../log/session-state.js";
import type { LoopDetection, LoopDetector } from "./loop-detection.js";
import { BARE_NUMBER, EMPTY } from "./texts.js";

/** What is done about a loop. */
export type Escalation =
  /** The model is told to try something else. */
  | { type: "redirect"; text: string }
  /** Another model, where there is one, and a higher temperature. */
  | { type: "change"; text: string }
  | { type: "terminate"; error: AgenticError };

const POLLING_KINDS: ReadonlySet<string> = new Set(["backgroundTaskAction", "waitTasksAction", "monitor"]);
/** How often an answer with nothing in it is asked for again. */
const MAX_VACUOUS = 2;

/** Watches the steps of one turn for circles. */
export class LoopGuard {
  readonly #config: LoopDetectionConfig | undefined;
  readonly #tools: ToolCallManager;
  readonly #hasOther: () => boolean;
  #detector: LoopDetector | undefined;
  #redirects = 0;
  #vacuous = 0;
  #numberDoubted = false;
  /** What the temperature is raised by. */
  temperature = 0;

  /** `hasOther`: whether there is another model to go on with. */
  constructor(config: LoopDetectionConfig | undefined, tools: ToolCallManager, hasOther: () => boolean) {
    this.#config = config;
    this.#tools = tools;
    this.#hasOther = hasOther;
  }

  /** Looks at the calls of a step before they run. */
  beforeCalls(outputs: readonly ModelOutput[]): Escalation | undefined | Promise<Escalation | undefined> {
    if (!this.#config) return undefined;
    const calls: ToolCallOutput[] = [];
    for (const output of outputs) if (output.type === "toolCall" && !this.#polls(output.name)) calls.push(output);
    if (calls.length === 0) return undefined;
    return this.#detector ? this.#look(this.#detector, outputs, calls) : this.#firstLook(this.#config, outputs, calls);
  }

  /** An answer without calls never needs it. */
  async #firstLook(
    config: LoopDetectionConfig,
    outputs: readonly ModelOutput[],
    calls: readonly ToolCallOutput[],
  ): Promise<Escalation | undefined> {
    const { LoopDetector } = await import("./loop-detection.js");
    this.#detector ??= new LoopDetector(config);
    return this.#look(this.#detector, outputs, calls);
  }

  #look(
    detector: LoopDetector,
    outputs: readonly ModelOutput[],
    calls: readonly ToolCallOutput[],
  ): Escalation | undefined {
    let text = "";
    for (const output of outputs) if (output.type === "text") text += output.text;
    return this.#escalate(detector.calls(text, calls));
  }

  /** Looks at what the calls of a step came to. */
  afterCalls(calls: Iterable<Pick<OpenCall, "call" | "result">>): Escalation | undefined {
    if (!this.#detector) return undefined;
    const results: string[] = [];
    let changed = false;
    for (const { call, result } of calls) {
      if (this.#polls(call.name)) continue;
      results.push(result ? textOfContent(result.content) : "");
      changed ||= result?.errorDetail === undefined && this.#changes(call.name);
    }
    return results.length === 0 ? undefined : this.#escalate(this.#detector.results(results.join("\n"), changed));
  }

  /**
   * Why an answer is to be asked for again, and what the model is told; undefined for one that stands. A bare number is
   * judged against the conversation before it.
   */
  rejects(outputs: readonly ModelOutput[], conversation: readonly Message[]): typeof EMPTY | undefined {
    if (!this.#config?.detectVacuousAnswers || this.#vacuous >= MAX_VACUOUS) return undefined;
    let text = "";
    for (const output of outputs) {
      if (output.type === "text") text += output.text;
      else if (output.type !== "thinking") return undefined;
    }
    const number = this.#config.judgeBareNumbers && !this.#numberDoubted && isOutOfPlace(text, conversation);
    if (!number && !isVacuous(text)) return undefined;
    this.doubted(number);
    return number ? BARE_NUMBER : EMPTY;
  }

  /** An answer was asked for again: one with nothing in it, or a bare number. */
  doubted(number: boolean): void {
    this.#vacuous++;
    this.#numberDoubted ||= number;
  }

  /** Something new was said. */
  reset(): void {
    this.#detector?.reset();
    this.#redirects = 0;
    this.#vacuous = 0;
    this.#numberDoubted = false;
  }

  #polls(tool: string): boolean {
    if (this.#config?.pollingTools.includes(tool)) return true;
    const metadata = this.#tools.metadata(tool);
    return metadata !== undefined && POLLING_KINDS.has(metadata.kind);
  }

  #changes(tool: string): boolean {
    const metadata = this.#tools.metadata(tool);
    return metadata !== undefined && !metadata.capabilities.readOnly;
  }

  #escalate(found: LoopDetection): Escalation | undefined {
    if (found.type === "noLoop" || !this.#config) return undefined;
    this.#detector?.reset();
    const { maxRedirects, temperatureDelta } = this.#config;
    const text = `You are going round in circles (${found.type}, ${found.occurrences} times). Do something else: another tool, other arguments, or answer with what you know.`;
    this.#redirects++;
    if (this.#redirects <= maxRedirects) return { type: "redirect", text };
    const canChange = temperatureDelta > 0 || this.#hasOther();
    if (this.#redirects === maxRedirects + 1 && canChange) {
      this.temperature += temperatureDelta;
      return { type: "change", text };
    }
    const told = this.#redirects > 1 ? " and did not stop when told" : "";
    const error = new AgenticError(
      "loopDetected",
      `The model went round in circles${told}: ${found.type}, ${found.occurrences} times.`,
      { kind: found.type, occurrences: found.occurrences },
    );
    return { type: "terminate", error };
  }
}

/** An answer with nothing in it that could be one: no letter, digit, sign or picture, in any script. */
export function isVacuous(text: string): boolean {
  return !/[\p{L}\p{N}\p{S}]/u.test(text);
}

/** Number words aside, every script asks with one of these or with digits. */
const ASKS_FOR_A_NUMBER = /[\p{N}?\uFF1F\u061F\u037E\u055E\u1367\u2047-\u2049\u203D]/u;

/** Whether an answer is digits alone, where nobody spoke of numbers and no tool was asked. */
function isOutOfPlace(text: string, conversation: readonly Message[]): boolean {
  if (!/\p{N}/u.test(text) || /[\p{L}\p{S}]/u.test(text)) return false;
  for (let i = conversation.length - 1; i >= 0; i--) {
    const message = conversation[i];
    if (message?.type === "toolResult") return false;
    if (message?.type !== "user" || message.role !== "user") continue;
    const plain = message.content.every((part) => part.type === "text");
    return plain && !ASKS_FOR_A_NUMBER.test(textOfContent(message.content));
  }
  return false;
}
