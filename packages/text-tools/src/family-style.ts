import type { ToolFunctionSpec, ToolResultMessage } from "@shedkit/types";
import { type AnswerFormat, AnswerParser } from "./answer-parser.js";
import type { TemplateMessage } from "./chat-template.js";
import { contentText, type TextOptions, templateMessages } from "./conversation.js";
import type { ParserOptions, TextParser, TextToolFamily } from "./family.js";
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
  /** Where a generation is over although the model goes on. Default: nowhere. */
  stops?: readonly string[] | undefined;
  /** How a call is written, for models whose template does not tell them of tools. */
  example: string;
  /** The form in which a tool is told. Default: with its return schema in the description. */
  spec?: ((tool: ToolFunctionSpec) => ToolFunctionSpec) | undefined;
  /** How tools that were found later are declared in a result. Default: their JSON schemas. */
  declare?: ((tools: readonly ToolFunctionSpec[]) => string) | undefined;
  /** What the template wants of messages. */
  messages?: Pick<TextOptions, "argumentsAsText" | "callId" | "oneCallEach"> | undefined;
  /** The last word on the messages, e.g. for a template without a role for tools. */
  rewrite?: ((messages: readonly TemplateMessage[]) => TemplateMessage[]) | undefined;
}

/** Our own tags, and the ones that families put around results. */
const RESULT_TAG = /<(\/?)(tool_response|tools)>/g;

export function family(style: FamilyStyle): TextToolFamily {
  const { spec = withReturns, declare = declarations } = style;
  return {
    id: style.id,
    render(conversation, template, options = {}) {
      const { head, byCall } = offeredTools(conversation.tools, conversation.messages, options.declare ?? "result");
      const protect = options.protect ?? ((text) => text);
      const tools = head.map(spec);
      const printed = template.prints.name;
      const told = printed || tools.length === 0 ? undefined : instructions(tools, style.example);
      const messages = templateMessages(conversation.system, conversation.messages, {
        ...style.messages,
        protect,
        result: (message) => {
          const found = message.errorDetail === undefined ? byCall.get(message.toolCallId) : undefined;
          return found ? declare(found.map(spec)) : protect(resultText(message));
        },
      });
      const all = told === undefined ? messages : withSystem(messages, told);
      const written = style.rewrite?.(all) ?? all;
      return template.render(template.takesSystem ? written : folded(written), printed ? tools : [], options);
    },
    parser: (options = {}) => style.parser?.(options) ?? markedParser(style.format(options.tools ?? []), options),
    stops: style.stops ?? [],
    grammar: style.grammar,
    answerGrammar: (schema, canCall) => jsonGrammar(schema, canCall ? style.mark : undefined),
  };
}

function markedParser(format: AnswerFormat, { prompt = "" }: ParserOptions): TextParser {
  const open = format.thinking?.open.trimEnd();
  return new AnswerParser(format, open !== undefined && prompt.trimEnd().endsWith(open));
}

export function resultText(message: ToolResultMessage): string {
  const text = contentText(message.content).replace(RESULT_TAG, "<\\$1$2>");
  return message.errorDetail !== undefined && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}

function declarations(tools: readonly ToolFunctionSpec[]): string {
  return `These tools can be called now:\n${toolsBlock(tools)}`;
}

function toolsBlock(tools: readonly ToolFunctionSpec[]): string {
  const lines = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ type: "function", function: { name, description, parameters } }),
  );
  return `<tools>\n${lines.join("\n")}\n</tools>`;
}

function withReturns(tool: ToolFunctionSpec): ToolFunctionSpec {
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
