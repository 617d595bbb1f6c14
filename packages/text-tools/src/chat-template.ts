import { Template } from "@huggingface/jinja";
import { AgenticError, type ToolFunctionSpec } from "@shedkit/types";
import { withLoopScopes } from "./loop-scope.js";
import { plainSchema } from "./plain-schema.js";
import { DATE_FUNCTION, inOurDialect } from "./template-dialect.js";
import { alternating } from "./turns.js";

/** A message as chat templates know it. */
export interface TemplateMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  /** Of an assistant: what it thought. */
  reasoning_content?: string | undefined;
  /** The same, for the templates that call it so. */
  thinking?: string | undefined;
  tool_calls?: readonly TemplateCall[] | undefined;
  /** The results of its own calls, for the templates that want them there. */
  tool_responses?: readonly { name: string; response: unknown }[] | undefined;
  /** Of a tool's result. */
  name?: string | undefined;
  tool_call_id?: string | undefined;
  /** Of a tool's result that is no text: the value, of which `content` is the JSON. */
  response?: object | undefined;
}

/** A call as chat templates know it. `arguments` is a string where it was not a JSON object. */
export interface TemplateCall {
  id: string;
  type: "function";
  function: { name: string; arguments: unknown };
}

/** What a template writes beside the conversation. */
export interface ChatTemplateOptions {
  /** The text of the token that begins a sequence, for templates that write it. Default: empty. */
  bosToken?: string | undefined;
  /** The text of the token that ends a sequence. Default: empty. */
  eosToken?: string | undefined;
  /** The day that templates with a date may name; fixed, so that a prompt stays as it was. Default: `new Date()`. */
  today?: Date | undefined;
}

/** How an answer is to be begun. */
export interface AnswerOptions {
  /** Whether the model may think first. Default: the template's own. */
  thinking?: boolean | undefined;
  /** How long it may think, in the template's own words (`"low"`, `"high"`). Default: the template's own. */
  effort?: string | undefined;
  /** Whether an answer begins at all. Default: true. */
  generate?: boolean | undefined;
}

/** What a template does with calls and results. */
export interface PrintedCalls {
  calls: boolean;
  results: boolean;
  /** Whether arguments must be given as JSON text. */
  asText: boolean;
  /** Whether it also takes arguments that are a text and no JSON. */
  anyText: boolean;
}

/** A model's own chat template, in Jinja. */
export class ChatTemplate {
  readonly source: string;
  readonly #template: Template;
  readonly #fixed: { [name: string]: unknown };
  /** The first form of input that the template took. */
  #form = 0;
  #takesSystem: boolean | undefined;
  readonly #calls = new Map<boolean, PrintedCalls>();
  readonly #declarations = new Map<string, string | undefined>();
  #prints: { name: boolean; description: boolean } | undefined;

  /** Throws AgenticError `provider` where the source is not a template. */
  constructor(source: string, options: ChatTemplateOptions = {}) {
    this.source = source;
    const today = options.today ?? new Date();
    this.#fixed = {
      bos_token: options.bosToken ?? "",
      eos_token: options.eosToken ?? "",
      [DATE_FUNCTION]: (format: string) => formatDate(today, format),
    };
    try {
      this.#template = new Template(inOurDialect(source));
      this.#template.parsed.body = withLoopScopes(this.#template.parsed.body);
    } catch (cause) {
      throw templateError("cannot be read", cause);
    }
  }

  /** What the template prints of a tool. A template that fails prints nothing. */
  get prints(): { name: boolean; description: boolean } {
    this.#prints ??= this.#probe();
    return this.#prints;
  }

  /** Whether the template prints a system message, at the front; some refuse it, some put it beside the last question. */
  get takesSystem(): boolean {
    this.#takesSystem ??= this.#probeSystem();
    return this.#takesSystem;
  }

  /** Whether the template tells that effort from others that it does not know. */
  knowsEffort(effort: string): boolean {
    const [known, unknown] = [effort, "unheard-of"].map((word) =>
      this.#printed([HELLO], { thinking: true, effort: word }),
    );
    return known !== unknown;
  }

  /** What the template does with calls and results, with arguments in the form that is wanted if it takes that. */
  printsCalls(preferText: boolean): PrintedCalls {
    let found = this.#calls.get(preferText);
    if (!found) {
      const forms = [preferText, !preferText].map((asText) => this.#probeCalls(asText));
      found = forms.find((form) => form?.calls) ??
        forms[0] ?? { calls: false, results: false, asText: preferText, anyText: true };
      this.#calls.set(preferText, found);
    }
    return found;
  }

  /**
   * A tool as the template itself writes it among others; undefined where that cannot be told: the template prints no
   * tools, or not one after the other.
   */
  declaration(tool: ToolFunctionSpec): string | undefined {
    const key = JSON.stringify(tool);
    if (!this.#declarations.has(key)) {
      if (this.#declarations.size >= MOST_DECLARATIONS) this.#declarations.clear();
      this.#declarations.set(key, this.#probeDeclaration(tool));
    }
    return this.#declarations.get(key);
  }

  /** Throws AgenticError `provider` with what the template complained about. */
  render(
    messages: readonly TemplateMessage[],
    tools: readonly ToolFunctionSpec[] = [],
    options: AnswerOptions = {},
  ): string {
    const { thinking, effort, generate = true } = options;
    const declared = tools.map((tool) => asFunction(tool));
    const values = {
      ...this.#fixed,
      add_generation_prompt: generate,
      ...(declared.length > 0 && { tools: declared }),
      ...(thinking !== undefined && { enable_thinking: thinking, thinking }),
      ...(effort !== undefined && { reasoning_effort: effort }),
    };
    const forms: readonly (() => object)[] = [
      () => ({ messages }),
      // Some templates run over the tools without asking whether there are any, take it for granted that each of their
      // parameters has one type and a description, or want content in parts.
      () => ({ messages, tools: declared }),
      () => ({ messages, tools: tools.map((tool) => asFunction(tool, described)) }),
      () => ({ messages: inParts(messages) }),
      // Some refuse turns that do not alternate.
      () => ({ messages: alternating(messages) }),
    ];
    let problem: unknown;
    for (const [i, form] of forms.entries()) {
      if (i < this.#form) continue;
      try {
        const text = this.#template.render({ ...values, ...form() });
        this.#form = i;
        return text;
      } catch (cause) {
        problem ??= cause;
      }
    }
    throw templateError("refused the conversation", problem);
  }

  #printed(messages: readonly TemplateMessage[], options: AnswerOptions = {}, tools: ToolFunctionSpec[] = []): string {
    try {
      return this.render(messages, tools, options);
    } catch {
      return "";
    }
  }

  #probeSystem(): boolean {
    const system = "A probing system";
    const first: TemplateMessage = { role: "user", content: "The first question" };
    const text = this.#printed([
      { role: "system", content: system },
      first,
      { role: "assistant", content: "Yes" },
      { role: "user", content: "The second question" },
    ]);
    const at = text.indexOf(system);
    return at >= 0 && at < text.indexOf(first.content);
  }

  #probeCalls(asText: boolean): PrintedCalls | undefined {
    const id = "probe0001"; // some want ids of nine letters and digits
    const json = '{"key": "x"}';
    const called = (args: unknown): string =>
      this.#printed([
        HELLO,
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id, type: "function", function: { name: "probe_call", arguments: args } }],
        },
        { role: "tool", content: "A probing result", name: "probe_call", tool_call_id: id },
      ]);
    const text = called(asText ? json : JSON.parse(json));
    const results = text.includes("A probing result");
    if (!text.includes("probe_call")) return { calls: false, results, asText, anyText: true };
    // A text that is written as a string, quotes and all, was not to be one.
    if (!text.includes(asText ? json : "key")) return undefined;
    return { calls: true, results, asText, anyText: called('{"key": "').includes("probe_call") };
  }

  #probe(): { name: boolean; description: boolean } {
    const text = this.#printed([HELLO], {}, [PROBE]);
    return { name: text.includes(PROBE.name), description: text.includes(PROBE.description) };
  }

  /** What comes to a prompt when the tool comes behind another one. */
  #probeDeclaration(tool: ToolFunctionSpec): string | undefined {
    const one = this.#printed([HELLO], {}, [PROBE]);
    const two = this.#printed([HELLO], {}, [PROBE, tool]);
    let start = 0;
    while (start < one.length && one[start] === two[start]) start++;
    const added = two.length - one.length;
    if (added <= 0 || two.slice(start + added) !== one.slice(start)) return undefined;
    // Where the list's end begins as a tool does, the same may be said to stand a little before.
    for (let at = start; at >= 0 && two.slice(at + added) === one.slice(at); at--) {
      const text = two.slice(at, at + added).replace(/^[\s,]+|[\s,]+$/g, "");
      if (BEGINS.test(text) && text.includes(tool.name)) return text;
    }
    return undefined;
  }
}

const MOST_DECLARATIONS = 1000;

const HELLO: TemplateMessage = { role: "user", content: "Hello" };

const PROBE: ToolFunctionSpec = {
  name: "probe_tool",
  description: "A probing description",
  parameters: { type: "object", properties: { key: { type: "string", description: "A key" } }, required: ["key"] },
};

/** How declarations of tools begin: as JSON, in a tag, as code. */
const BEGINS = /^(\{|<|\/\/|type |def |#)/;

const described = (schema: object) => plainSchema({ type: "object", ...schema }, { described: true });

function asFunction(
  { name, description, parameters }: ToolFunctionSpec,
  change: (schema: object) => object = (schema) => schema,
): object {
  return { type: "function", function: { name, description, parameters: change(parameters) } };
}

function inParts(messages: readonly TemplateMessage[]): object[] {
  return messages.map((message) => ({ ...message, content: [{ type: "text", text: message.content }] }));
}

function templateError(what: string, cause: unknown): AgenticError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AgenticError("provider", `The model's chat template ${what}: ${reason}`, {}, { cause });
}

/** The few codes that chat templates use for a day; others stay as they are. */
function formatDate(date: Date, format: string): string {
  const month = date.toLocaleString("en-US", { month: "long" });
  const values: { [code: string]: string } = {
    Y: String(date.getFullYear()),
    m: String(date.getMonth() + 1).padStart(2, "0"),
    d: String(date.getDate()).padStart(2, "0"),
    B: month,
    b: month.slice(0, 3),
  };
  return format.replace(/%([a-zA-Z])/g, (code, letter: string) => values[letter] ?? code);
}
