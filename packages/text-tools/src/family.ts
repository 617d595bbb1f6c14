import type { Message, ToolArguments, ToolDeclarations, ToolFunctionSpec } from "@shedkit/types";
import type { ChatTemplate } from "./chat-template.js";

/** What a prompt is made of. */
export interface Conversation {
  system?: string | undefined;
  /** Chronological; every call of an earlier step has its result. */
  messages: readonly Message[];
  tools: ToolDeclarations;
}

/** How long a model may think. */
export type ThinkingEffort = "low" | "medium" | "high";

/** How a prompt is rendered. */
export interface RenderOptions {
  /** Whether the model may think first, where its template can tell it. Default: the template's own. */
  thinking?: boolean | undefined;
  /** How long, where its template can tell it. Default: the template's own. */
  effort?: ThinkingEffort | undefined;
  /**
   * Where a tool that a `shed` call found is declared: in that call's result, so that what was rendered before stays as
   * it was (the default), or where the template puts tools.
   */
  declare?: "result" | "head" | undefined;
  /** Applied to every text that people, tools or the model wrote, e.g. to keep special tokens out of it. */
  protect?: ((text: string) => string) | undefined;
}

/**
 * What a model says, as it is read: pieces of text and thinking, and calls. `call` ends a call and is authoritative;
 * `callStart` and `callDelta` (pieces of the arguments' JSON) come before it.
 */
export type TextEvent =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "callStart"; name: string }
  | { type: "callDelta"; json: string }
  | {
      type: "call";
      name: string;
      arguments?: ToolArguments | undefined;
      /** The arguments as they came where they are not a JSON object, or hold an integer that a double would round. */
      rawArguments?: string | undefined;
      /** The id that the model gave the call, in families that have ids. */
      providerCallId?: string | undefined;
    };

/** Reads a model's answer as it comes. What it says in all does not depend on how the answer is cut. */
export interface TextParser {
  push(text: string): TextEvent[];
  /** The answer is over: says what was held back. */
  end(): TextEvent[];
  /** Inside a call: the mark that began it, and what came after. */
  readonly call: { mark: string; text: string } | undefined;
  /** Inside thinking. */
  readonly thinking: boolean;
}

/** What a parser knows before the first token. */
export interface ParserOptions {
  /** The tools that may be called. Some families' calls can only be read with their schemas. Default: none. */
  tools?: readonly ToolFunctionSpec[] | undefined;
  /** The prompt, whose end may have opened the thinking. Default: empty. */
  prompt?: string | undefined;
}

/** How the models of a family are told of tools, call them, and get the results: as text. */
export interface TextToolFamily {
  readonly id: string;
  /** The prompt of the next answer, special tokens as text. Throws AgenticError `provider` where the template fails. */
  render(conversation: Conversation, template: ChatTemplate, options?: RenderOptions): string;
  parser(options?: ParserOptions): TextParser;
  /** What ends the thinking that an answer begins with; undefined where the family does not think. */
  readonly thinkingEnd: string | undefined;
  /** Texts at which a generation is over although the model goes on. */
  readonly stops: readonly string[];
  /**
   * A GBNF grammar of the rest of a call of one of `tools`, up to its end: from behind its mark (default: the family's
   * usual one) and the `text` after it. Undefined where what has begun fits no call.
   */
  grammar(tools: readonly ToolFunctionSpec[], begun?: { mark: string; text: string }): string | undefined;
  /** A GBNF grammar of an answer that is JSON of a schema or, where `canCall`, the mark that begins a call. */
  answerGrammar(schema: object, canCall: boolean): string;
}
