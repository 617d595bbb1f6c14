import type { ToolCallManager } from "@shedkit/shed";
import { metadataOf } from "@shedkit/tool";
import { AgenticError, type ModelOutput, textOfContent } from "@shedkit/types";
import type { LoopDetectionConfig } from "./config.js";
import type { LoopDetection, LoopDetector } from "./loop-detection.js";
import type { OpenCall } from "./session-state.js";

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
  /** What the temperature is raised by. */
  temperature = 0;

  /** `hasOther`: whether there is another model to go on with. */
  constructor(config: LoopDetectionConfig | undefined, tools: ToolCallManager, hasOther: () => boolean) {
    this.#config = config;
    this.#tools = tools;
    this.#hasOther = hasOther;
  }

  /** Looks at the calls of a step before they run. */
  async beforeCalls(outputs: readonly ModelOutput[]): Promise<Escalation | undefined> {
    if (!this.#config) return undefined;
    const calls = outputs.filter((output) => output.type === "toolCall").filter((call) => !this.#polls(call.name));
    if (calls.length === 0) return undefined;
    // A turn with few steps never needs it.
    this.#detector ??= new (await import("./loop-detection.js")).LoopDetector(this.#config);
    const text = outputs.map((output) => (output.type === "text" ? output.text : "")).join("");
    return this.#escalate(this.#detector.calls(text, calls));
  }

  /** Looks at what the calls of a step came to. */
  afterCalls(calls: Iterable<OpenCall>): Escalation | undefined {
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

  /** Whether an answer has nothing in it and is to be asked for again. */
  rejects(outputs: readonly ModelOutput[]): boolean {
    if (!this.#config?.detectVacuousAnswers || this.#vacuous >= MAX_VACUOUS) return false;
    const empty = outputs.every(
      (output) => output.type === "thinking" || (output.type === "text" && isVacuous(output.text)),
    );
    if (empty) this.#vacuous++;
    return empty;
  }

  /** Something new was said. */
  reset(): void {
    this.#detector?.reset();
    this.#redirects = 0;
    this.#vacuous = 0;
  }

  #polls(tool: string): boolean {
    if (this.#config?.pollingTools.includes(tool)) return true;
    const impl = this.#tools.get(tool);
    return impl?.metadata !== undefined && POLLING_KINDS.has(metadataOf(impl).kind);
  }

  #changes(tool: string): boolean {
    const impl = this.#tools.get(tool);
    return impl !== undefined && !metadataOf(impl).capabilities.readOnly;
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
