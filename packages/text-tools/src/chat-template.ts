import { Template } from "@huggingface/jinja";
import { AgenticError, type ToolFunctionSpec } from "@shedkit/types";

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
  tool_responses?: readonly { name: string; response: string }[] | undefined;
  /** Of a tool's result. */
  name?: string | undefined;
  tool_call_id?: string | undefined;
}

/** A call as chat templates know it. `arguments` is a string where it was not a JSON object. */
export interface TemplateCall {
  id: string;
  type: "function";
  function: { name: string; arguments: unknown };
}

export interface ChatTemplateOptions {
  /** The text of the token that begins a sequence, for templates that write it. Default: empty. */
  bosToken?: string | undefined;
  /** The text of the token that ends a sequence. Default: empty. */
  eosToken?: string | undefined;
  /** The day that templates with a date may name; fixed, so that a prompt stays as it was. Default: `new Date()`. */
  today?: Date | undefined;
}

/** What `strftime_now` of templates is called here: the engine's own reads the clock each time. */
const DATE_FUNCTION = "strftime_fixed";

/** A model's own chat template, in Jinja. */
export class ChatTemplate {
  readonly source: string;
  readonly #template: Template;
  readonly #fixed: { [name: string]: unknown };
  /** The first form of input that the template took. */
  #form = 0;
  #takesSystem: boolean | undefined;
  #calls: { calls: boolean; results: boolean } | undefined;
  #callsAsText: { calls: boolean; results: boolean } | undefined;
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
      this.#template = new Template(source.replace(/\bstrftime_now\b/g, DATE_FUNCTION));
    } catch (cause) {
      throw templateError("cannot be read", cause);
    }
  }

  /** What the template prints of a tool. A template that fails prints nothing. */
  get prints(): { name: boolean; description: boolean } {
    this.#prints ??= this.#probe();
    return this.#prints;
  }

  /** Whether the template prints a system message; some refuse it, some pass it over. */
  get takesSystem(): boolean {
    this.#takesSystem ??= this.#tries("A probing system", [{ role: "system", content: "A probing system" }]);
    return this.#takesSystem;
  }

  /** Whether the template prints the calls of an assistant, and the results of tools. */
  printsCalls(argumentsAsText: boolean): { calls: boolean; results: boolean } {
    const known = argumentsAsText ? this.#callsAsText : this.#calls;
    if (known) return known;
    const id = "probe0001"; // some want ids of nine letters and digits
    const args = argumentsAsText ? '{"key": "x"}' : { key: "x" };
    const text = this.#printed([
      { role: "user", content: "Hello" },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id, type: "function", function: { name: "probe_call", arguments: args } }],
      },
      { role: "tool", content: "A probing result", name: "probe_call", tool_call_id: id },
    ]);
    const prints = { calls: text.includes("probe_call"), results: text.includes("A probing result") };
    if (argumentsAsText) this.#callsAsText = prints;
    else this.#calls = prints;
    return prints;
  }

  /** Throws AgenticError `provider` with what the template complained about. */
  render(
    messages: readonly TemplateMessage[],
    tools: readonly ToolFunctionSpec[] = [],
    options: { thinking?: boolean | undefined; generate?: boolean | undefined } = {},
  ): string {
    const declared = tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
    const values = {
      ...this.#fixed,
      add_generation_prompt: options.generate ?? true,
      ...(declared.length > 0 && { tools: declared }),
      ...(options.thinking !== undefined && { enable_thinking: options.thinking }),
    };
    const forms: readonly (() => object)[] = [
      () => ({ messages }),
      // Some templates run over the tools without asking whether there are any, or want content in parts.
      () => ({ messages, tools: declared }),
      () => ({ messages: inParts(messages) }),
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

  #tries(text: string, messages: readonly TemplateMessage[]): boolean {
    return this.#printed([...messages, { role: "user", content: "Hello" }]).includes(text);
  }

  #printed(messages: readonly TemplateMessage[]): string {
    try {
      return this.render(messages);
    } catch {
      return "";
    }
  }

  #probe(): { name: boolean; description: boolean } {
    const parameters = { type: "object", properties: { key: { type: "string" } }, required: ["key"] };
    const tool = { name: "probe_tool", description: "A probing description", parameters };
    try {
      const text = this.render([{ role: "user", content: "Hello" }], [tool]);
      return { name: text.includes(tool.name), description: text.includes(tool.description) };
    } catch {
      return { name: false, description: false };
    }
  }
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
