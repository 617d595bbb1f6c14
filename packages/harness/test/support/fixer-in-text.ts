import type { ToolArguments } from "@shedkit/types";
import { nextStep, type Told } from "./fixer.js";

/** What the program says to a prompt as a local model gets it, where calls are JSON in tags. */
export function answerToText(prompt: string): string {
  const step = nextStep(toldInText(prompt));
  if (typeof step === "string") return step;
  return `<tool_call>\n{"name": "${step.call}", "arguments": ${spaced(step.arguments)}}\n</tool_call>`;
}

/** JSON with the spaces that chat templates write: so what was said stands in the next prompt letter by letter. */
function spaced(args: ToolArguments): string {
  const members = Object.entries(args).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{${members.join(", ")}}`;
}

/** What tools told since the question. */
function toldInText(prompt: string): Told[] {
  const last = prompt.slice(prompt.lastIndexOf("Mend it."));
  const names = [...last.matchAll(/<tool_call>\s*\{"name": ?"(\w+)"/g)].map(([, name = ""]) => name);
  const texts = [...last.matchAll(/<tool_response>\n([\s\S]*?)\n<\/tool_response>/g)].map(([, text = ""]) => text);
  return texts.map((text, i) => ({ tool: names[i] ?? "?", text }));
}
