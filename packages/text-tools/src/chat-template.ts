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
  #takesSystem: boolean | undefined;
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
    try {
      return this.#template.render({
        ...this.#fixed,
        messages,
        add_generation_prompt: options.generate ?? true,
        ...(declared.length > 0 && { tools: declared }),
        ...(options.thinking !== undefined && { enable_thinking: options.thinking }),
      });
    } catch (cause) {
      throw templateError("refused the conversation", cause);
    }
  }

  #tries(text: string, messages: readonly TemplateMessage[]): boolean {
    try {
      return this.render([...messages, { role: "user", content: "Hello" }]).includes(text);
    } catch {
      return false;
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
