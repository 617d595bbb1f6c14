import type { ToolFunctionSpec, ToolResultMessage } from "@shedkit/types";
import { type AnswerFormat, AnswerParser } from "./answer-parser.js";
import type { ChatTemplate, TemplateCall, TemplateMessage } from "./chat-template.js";
import { contentText, protectDeep, type TextOptions, templateMessages } from "./conversation.js";
import type { ParserOptions, TextParser, TextToolFamily, ThinkingEffort } from "./family.js";
import { jsonGrammar } from "./json-calls.js";
import { offeredTools } from "./offered.js";

/** What differs among families; what is absent is as most have it. */
export interface FamilyStyle {
  id: string;
  /** How answers are written. */
  format(tools: readonly ToolFunctionSpec[]): AnswerFormat;
  /** Reads answers where marks alone do not tell. Default: a parser of the format. */
  parser?: ((options: ParserOptions) => TextParser) | undefined;
  grammar: TextToolFamily["grammar"];
  /** The mark that begins a call: an answer that must be JSON may have it instead. */
  mark: string;
  /** What ends the thinking. Default: the closing mark of the format. */
  thinkingEnd?: string | undefined;
  /** Where a generation is over although the model goes on. Default: nowhere. */
  stops?: readonly string[] | undefined;
  /** How a call is written, for models whose template does not tell them of tools. */
  example: string;
  /** The form in which a tool is told. Default: with its return schema in the description. */
  spec?: ((tool: ToolFunctionSpec) => ToolFunctionSpec) | undefined;
  /**
   * How tools that were found later are declared in a result: as text, or as a value where the template takes one.
   * Default: as the template itself writes tools, else their JSON schemas.
   */
  declare?: ((tools: readonly ToolFunctionSpec[], written: readonly string[]) => string | object) | undefined;
  /** What the template wants of messages; arguments it gets as text only where it takes that. */
  messages?: Pick<TextOptions, "argumentsAsText" | "callId" | "oneCallEach"> | undefined;
  /** The template's own words for how long to think. Default: the same as ours. */
  efforts?: { readonly [effort in ThinkingEffort]: string } | undefined;
  /** The text of a call, for a template that prints none. Default: JSON in `<tool_call>` tags. */
  write?: ((call: TemplateCall) => string) | undefined;
  /** `rewrite` puts results where the template wants them. */
  ownResults?: boolean | undefined;
  /** Tools, calls and results are told in plain words, whatever the template knows of them. */
  plain?: boolean | undefined;
  /** The last word on the messages. */
  rewrite?: ((messages: readonly TemplateMessage[]) => TemplateMessage[]) | undefined;
  /** The last word on the prompt. */
  finish?: ((prompt: string) => string) | undefined;
}

/** Our own tags, and the ones that families put around results. */
const RESULT_TAG = /<(\/?)(tool_response|tools)>/g;

export function family(style: FamilyStyle): TextToolFamily {
  const { spec = withReturns, declare = declarations, efforts } = style;
  return {
    id: style.id,
    render(conversation, template, options = {}) {
      const { head, byCall } = offeredTools(conversation.tools, conversation.messages, options.declare ?? "result");
      const protect = options.protect ?? ((text) => text);
      const shown = (tool: ToolFunctionSpec) => protectDeep(spec(tool), protect) as ToolFunctionSpec;
      const tools = head.map(shown);
      const prints = template.printsCalls(style.messages?.argumentsAsText ?? false);
      const { thinking, effort } = options;

      /** `printed`: the tools stand where the template puts tools, else our own words tell of them. */
      const rendered = (printed: boolean): string => {
        const told = printed || tools.length === 0 ? undefined : instructions(tools, style.example);
        const messages = templateMessages(conversation.system, conversation.messages, {
          ...style.messages,
          argumentsAsText: prints.asText,
          objectsOnly: !prints.anyText,
          protect,
          result(message) {
            const found = message.errorDetail === undefined ? byCall.get(message.toolCallId)?.map(shown) : undefined;
            return found ? declare(found, printed ? writtenBy(template, found) : []) : protect(resultText(message));
          },
        });
        const all = told === undefined ? messages : withSystem(messages, told);
        const rewritten = style.rewrite?.(all) ?? all;
        const written = inPlainWords(rewritten, style.write ?? inTags, {
          calls: !prints.calls || style.plain === true,
          results: !style.ownResults && (!prints.results || style.plain === true),
        });
        return template.render(template.takesSystem ? written : folded(written), printed ? tools : [], {
          thinking,
          effort: effort === undefined ? undefined : (efforts?.[effort] ?? effort),
        });
      };

      const printed = template.prints.name && !style.plain;
      const prompt = printed && tools.length > 0 ? unlessRefused(rendered) : rendered(printed);
      return style.finish?.(prompt) ?? prompt;
    },
    parser: (options = {}) => style.parser?.(options) ?? markedParser(style.format(options.tools ?? []), options),
    thinkingEnd: style.thinkingEnd ?? style.format([]).thinking?.close,
    stops: style.stops ?? [],
    grammar: style.grammar,
    answerGrammar: (schema, canCall) => jsonGrammar(schema, canCall ? style.mark : undefined),
  };
}

/** With the tools as the template has them; told in words where it cannot write these. Throws what it said of them. */
function unlessRefused(rendered: (printed: boolean) => string): string {
  try {
    return rendered(true);
  } catch (refusal) {
    try {
      return rendered(false);
    } catch {
      throw refusal; // it is not the tools
    }
  }
}

function markedParser(format: AnswerFormat, { prompt = "" }: ParserOptions): TextParser {
  const open = format.thinking?.open.trimEnd();
  return new AnswerParser(format, open !== undefined && prompt.trimEnd().endsWith(open));
}

function resultText(message: ToolResultMessage): string {
  const text = contentText(message.content).replace(RESULT_TAG, "<\\$1$2>");
  return message.errorDetail !== undefined && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}

/** The tools as the template writes them; empty where one of them cannot be told so. */
function writtenBy(template: ChatTemplate, tools: readonly ToolFunctionSpec[]): string[] {
  const written = tools.flatMap((tool) => template.declaration(tool) ?? []);
  return written.length === tools.length ? written : [];
}

function declarations(tools: readonly ToolFunctionSpec[], written: readonly string[]): string {
  const block = written.length > 0 ? `<tools>\n${written.join("\n")}\n</tools>` : toolsBlock(tools);
  return `These tools can be called now:\n${block}`;
}

function toolsBlock(tools: readonly ToolFunctionSpec[]): string {
  const lines = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ type: "function", function: { name, description, parameters } }),
  );
  return `<tools>\n${lines.join("\n")}\n</tools>`;
}

/** A tool with what it returns in its description. */
export function withReturns(tool: ToolFunctionSpec): ToolFunctionSpec {
  const { returns, ...spec } = tool;
  return returns === undefined
    ? spec
    : { ...spec, description: `${spec.description}\nReturns: ${JSON.stringify(returns)}` };
}

function instructions(tools: readonly ToolFunctionSpec[], example: string): string {
  return [
    "You can call tools. These are their signatures:",
    toolsBlock(tools),
    "To call one, write this, and nothing after it:",
    example,
    "Its result is told to you next.",
  ].join("\n");
}

function withSystem(messages: readonly TemplateMessage[], text: string): TemplateMessage[] {
  const [first, ...rest] = messages;
  return first?.role === "system"
    ? [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
    : [{ role: "system", content: text }, ...messages];
}

/** For templates without a system message: what it says begins the first message of the user. */
function folded(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const [first, second, ...rest] = messages;
  if (first?.role !== "system") return [...messages];
  if (second?.role === "user") return [{ ...second, content: `${first.content}\n\n${second.content}` }, ...rest];
  return [{ ...first, role: "user" }, ...(second ? [second] : []), ...rest];
}

function inTags({ function: { name, arguments: args } }: TemplateCall): string {
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${argumentsText(args)}}\n</tool_call>`;
}

/** The JSON of arguments, which are text already where they were not an object. */
export function argumentsText(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args);
}

/** Calls as the assistant's text, results as the user's, where the template would pass them over. */
function inPlainWords(
  messages: readonly TemplateMessage[],
  write: (call: TemplateCall) => string,
  told: { calls: boolean; results: boolean },
): TemplateMessage[] {
  if (!told.calls && !told.results) return [...messages];
  const out: TemplateMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (told.results && message.role === "tool") {
      const content = `<tool_response>\n${message.content}\n</tool_response>`;
      if (last?.role === "user") last.content += `\n${content}`;
      else out.push({ role: "user", content });
    } else if (told.calls && message.tool_calls) {
      const { tool_calls: calls, ...rest } = message;
      const content = [...(rest.content ? [rest.content] : []), ...calls.map(write)].join("\n");
      out.push({ ...rest, content });
    } else if (message.role === "user" && last?.role === "user") last.content += `\n\n${message.content}`;
    else out.push({ ...message });
  }
  return out;
}
