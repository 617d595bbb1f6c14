import type { ToolCallOutput } from "@shedkit/types";
import type { LoopDetectionConfig } from "../config.js";

/** What a step is found to be. */
export type LoopDetection =
  | { type: "noLoop" }
  /** The same text with the same calls. */
  | { type: "exactLoop"; occurrences: number }
  /** The same calls, with the same results. */
  | { type: "toolCallLoop"; occurrences: number }
  /** A few calls in the same order again and again: A-B-A-B. */
  | { type: "alternatingLoop"; occurrences: number }
  /** The same call with the same result, whatever lay between. */
  | { type: "noProgress"; occurrences: number }
  /** Steps that are nearly the same, and whose results tell nothing but what was asked. */
  | { type: "fuzzyLoop"; occurrences: number };

interface Step {
  text: string;
  /** Of all calls; the same for the same calls. */
  signature: string;
  /** Numbers of signature and outcome: texts are compared only where these are the same. */
  signatureMark: number;
  outcomeMark: number;
  histogram?: Uint16Array | undefined;
  outcome?: string | undefined;
}

const NO_LOOP: LoopDetection = { type: "noLoop" };
/** Orders of calls longer than this are not looked for. */
const LONGEST_PERIOD = 3;
const BUCKETS = 256;
/** How much of a step is compared. */
const COMPARED = 1024;

/** Looks at the steps of a turn as they come. Costs the same for each. */
export class LoopDetector {
  readonly #config: LoopDetectionConfig;
  #steps: Step[] = [];

  constructor(config: LoopDetectionConfig) {
    this.#config = config;
  }

  /** A step's calls, before they run. Those of polling tools are left out by the caller. */
  calls(text: string, calls: readonly ToolCallOutput[]): LoopDetection {
    const [call] = calls;
    const signature = calls.length === 1 && call ? signatureOf(call) : calls.map(signatureOf).join("\n");
    const signatureMark = markOf(signature);
    this.#steps.push({ text, signature, signatureMark, outcomeMark: 0, outcome: undefined, histogram: undefined });
    const kept = Math.max(this.#config.toolCallMaxRepeats * LONGEST_PERIOD, this.#config.windowSize, 20);
    if (this.#steps.length > 2 * kept) this.#steps = this.#steps.slice(-kept);
    for (let period = 1; period <= LONGEST_PERIOD; period++) {
      const occurrences = this.#repetitions(period);
      if (occurrences < this.#config.toolCallMaxRepeats) continue;
      if (period > 1) return { type: "alternatingLoop", occurrences };
      const exact = text !== "" && this.#steps.slice(-occurrences).every((step) => step.text === text);
      return { type: exact ? "exactLoop" : "toolCallLoop", occurrences };
    }
    return NO_LOOP;
  }

  /**
   * What the newest step's calls came to. `changed`: one of them changed something, so that being like the steps before
   * it makes it no circle: work on many things is alike too.
   */
  results(outcome: string, changed = false): LoopDetection {
    const newest = this.#steps.at(-1);
    if (!newest) return NO_LOOP;
    newest.outcome = outcome;
    newest.outcomeMark = markOf(outcome);
    if (!changed) newest.histogram = histogramOf(`${newest.signature}${outcome}`);
    let occurrences = 0;
    for (const step of this.#steps) if (sameOutcome(step, newest) && sameCalls(step, newest)) occurrences++;
    if (occurrences >= this.#config.toolCallMaxRepeats) return { type: "noProgress", occurrences };
    const { windowSize, similarityThreshold } = this.#config;
    const window = this.#steps.slice(-windowSize);
    if (window.length < windowSize) return NO_LOOP;
    const alike = window.every(
      ({ histogram }) =>
        histogram && newest.histogram && similarity(histogram, newest.histogram) >= similarityThreshold,
    );
    if (!alike) return NO_LOOP;
    const learnt = learntFrom(newest);
    return window.every((step) => learntFrom(step) === learnt)
      ? { type: "fuzzyLoop", occurrences: windowSize }
      : NO_LOOP;
  }

  /** Forgets everything: something new has been said. */
  reset(): void {
    this.#steps = [];
  }

  /** How often the last `period` steps stand there in a row. */
  #repetitions(period: number): number {
    const steps = this.#steps;
    const last = steps.length - 1;
    // All the same is a period of one, and said as such.
    if (period > 1 && same(steps.at(-1), steps.at(-2))) return 0;
    let matched = period;
    while (matched <= last && same(steps[last - matched], steps[last - matched + period])) matched++;
    return last + 1 < period ? 0 : Math.floor(Math.min(matched, last + 1) / period);
  }
}

/** The same calls, which came to the same, as far as that is known: what comes to something new is no circle. */
function same(a: Step | undefined, b: Step | undefined): boolean {
  if (!a || !b) return a === b;
  return sameCalls(a, b) && (a.outcome === undefined || b.outcome === undefined || sameOutcome(a, b));
}

function sameCalls(a: Step, b: Step): boolean {
  return a.signatureMark === b.signatureMark && a.signature === b.signature;
}

function sameOutcome(a: Step, b: Step): boolean {
  return a.outcomeMark === b.outcomeMark && a.outcome === b.outcome;
}

/** So much of the end of a text goes into its mark. */
const MARKED = 64;

function markOf(text: string): number {
  let mark = text.length;
  for (let i = Math.max(0, text.length - MARKED); i < text.length; i++) {
    mark = (Math.imul(mark, 31) + text.charCodeAt(i)) | 0;
  }
  return mark;
}

function signatureOf(call: ToolCallOutput): string {
  return `${call.name} ${call.rawArguments ?? canonical(call.arguments ?? {})}`;
}

/** JSON with the keys in order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value);
  if (keys.length > 1) keys.sort();
  let text = "{";
  for (const key of keys) {
    text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${canonical((value as { [key: string]: unknown })[key])}`;
  }
  return `${text}}`;
}

/** The words of the results that were not in the calls: one thing after another is looked at as long as these differ. */
function learntFrom({ signature, outcome = "" }: Step): string {
  const asked = new Set(wordsOf(signature));
  return wordsOf(outcome)
    .filter((word) => !asked.has(word))
    .join(" ");
}

function wordsOf(text: string): string[] {
  return text.slice(0, COMPARED).match(/\p{L}+|\p{N}+/gu) ?? [];
}

/** How often each run of three characters is there, by its hash. */
function histogramOf(text: string): Uint16Array {
  const counts = new Uint16Array(BUCKETS);
  const end = Math.min(text.length, COMPARED);
  for (let i = 2; i < end; i++) {
    const hash = (text.charCodeAt(i - 2) * 31 + text.charCodeAt(i - 1)) * 31 + text.charCodeAt(i);
    const bucket = hash % BUCKETS;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

function similarity(a: Uint16Array, b: Uint16Array): number {
  let different = 0;
  let total = 0;
  for (let i = 0; i < BUCKETS; i++) {
    const [x = 0, y = 0] = [a[i], b[i]];
    different += Math.abs(x - y);
    total += x + y;
  }
  return total === 0 ? 1 : 1 - different / total;
}
