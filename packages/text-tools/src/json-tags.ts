import type { ToolFunctionSpec, ToolResultMessage } from "@shedkit/types";
import type { TemplateMessage } from "./chat-template.js";
import { contentText, templateMessages } from "./conversation.js";
import type { TextToolFamily } from "./family.js";
import { jsonCallGrammar, jsonGrammar } from "./json-calls.js";
import { MarkedParser } from "./marked-parser.js";
import { offeredTools } from "./offered.js";

const MARKS = { open: "<tool_call>", close: "</tool_call>" };
const RESULT_TAG = /<(\/?)tool_response>/g;

/** What differs among the families that write calls as JSON in tags. */
interface JsonTagsStyle {
  id: string;
  /** How tools that were found later are declared in a result. */
  declare(tools: readonly ToolFunctionSpec[]): string;
  /** The form in which the template, or the prompt, is given a tool. */
  spec(tool: ToolFunctionSpec): ToolFunctionSpec;
  /** The template knows nothing of tools: they are described in the system message, results are told by the user. */
  prompted?: boolean | undefined;
}

function jsonTags(style: JsonTagsStyle): TextToolFamily {
  return {
    id: style.id,
    render(conversation, template, options = {}) {
      const { head, byCall } = offeredTools(conversation.tools, conversation.messages, options.declare ?? "result");
      const protect = options.protect ?? ((text) => text);
      const tools = head.map(style.spec);
      const messages = templateMessages(conversation.system, conversation.messages, {
        protect,
        result: (message) => {
          const found = message.errorDetail === undefined ? byCall.get(message.toolCallId) : undefined;
          return found ? style.declare(found.map(style.spec)) : resultText(message);
        },
      });
      return style.prompted
        ? template.render(prompted(messages, tools), [], options)
        : template.render(messages, tools, options);
    },
    parser: (options) => new MarkedParser(MARKS, options),
    grammar: (tools, begun) => jsonCallGrammar(tools, begun, MARKS.close),
    answerGrammar: (schema, canCall) => jsonGrammar(schema, canCall ? MARKS.open : undefined),
  };
}

/**
 * Hermes, Qwen 2.5 and Qwen 3: `<tool_call>{"name", "arguments"}</tool_call>`, several in a row, results in
 * `<tool_response>` tags; tools are told as JSON schemas.
 */
export const hermes: TextToolFamily = jsonTags({
  id: "hermes",
  declare: (tools) => `These tools can be called now:\n${signatureBlock(tools)}`,
  spec: withReturns,
});

/**
 * The same calls, with tools told by their signatures alone, `read(path)`: very small models. Parameters that need not
 * be given are not told, since such a model gives every parameter that it sees.
 */
export const signatures: TextToolFamily = jsonTags({
  id: "signatures",
  declare: (tools) =>
    tools.map((tool) => `- ${tool.name}(${required(tool).join(", ")}): ${firstSentence(tool.description)}`).join("\n"),
  spec: (tool) => ({ ...tool, parameters: requiredOnly(tool) }),
});

/** For templates that know nothing of tools: the format of `hermes`, described in the system message. */
export const promptedTags: TextToolFamily = jsonTags({
  id: "prompted",
  declare: (tools) => `These tools can be called now:\n${signatureBlock(tools)}`,
  spec: withReturns,
  prompted: true,
});

function resultText(message: ToolResultMessage): string {
  const text = contentText(message.content).replace(RESULT_TAG, "<\\$1tool_response>");
  return message.errorDetail !== undefined && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}

function signatureBlock(tools: readonly ToolFunctionSpec[]): string {
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

interface Parameters {
  properties?: { [name: string]: object };
  required?: readonly string[];
}

function required(tool: ToolFunctionSpec): readonly string[] {
  return (tool.parameters as Parameters).required ?? [];
}

function requiredOnly(tool: ToolFunctionSpec): object {
  const { properties = {} } = tool.parameters as Parameters;
  const wanted = required(tool);
  return {
    ...tool.parameters,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => wanted.includes(name))),
  };
}

function firstSentence(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return /^.*?[.;:](?=\s|$)/.exec(line)?.[0].slice(0, -1) ?? line;
}

function prompted(messages: readonly TemplateMessage[], tools: readonly ToolFunctionSpec[]): TemplateMessage[] {
  const out: TemplateMessage[] = [];
  const push = (role: "user" | "assistant", content: string): void => {
    const last = out.at(-1);
    if (last?.role === role) last.content += `\n${content}`;
    else out.push({ role, content });
  };
  const system = messages[0]?.role === "system" ? messages[0].content : "";
  const rest = messages[0]?.role === "system" ? messages.slice(1) : messages;
  const head = tools.length === 0 ? system : [...(system ? [system] : []), instructions(tools)].join("\n\n");
  if (head !== "") out.push({ role: "system", content: head });
  for (const message of rest) {
    if (message.role === "tool") push("user", `<tool_response>\n${message.content}\n</tool_response>`);
    else if (message.role === "assistant") {
      const calls = (message.tool_calls ?? []).map(
        ({ function: { name, arguments: args } }) =>
          `${MARKS.open}\n{"name": ${JSON.stringify(name)}, "arguments": ${typeof args === "string" ? args : JSON.stringify(args)}}\n${MARKS.close}`,
      );
      push("assistant", [...(message.content ? [message.content] : []), ...calls].join("\n"));
    } else push("user", message.content);
  }
  return out;
}

function instructions(tools: readonly ToolFunctionSpec[]): string {
  return [
    "You can call tools. These are their signatures:",
    signatureBlock(tools),
    "To call one, write a JSON object in these tags, and nothing after it:",
    `${MARKS.open}\n{"name": "the tool's name", "arguments": {"its": "arguments"}}\n${MARKS.close}`,
    "The result comes in <tool_response> tags.",
  ].join("\n");
}
