import type { ToolFunctionSpec } from "@shedkit/types";
import type { ChatTemplate } from "./chat-template.js";
import type { TextToolFamily } from "./family.js";
import { hermes, promptedTags, signatures } from "./json-tags.js";

/** For a model that brings no chat template. */
export const CHATML =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const PROBE: ToolFunctionSpec = {
  name: "probe_tool",
  description: "A probing description",
  parameters: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
};

/** The family that a model's chat template belongs to: what it prints of a tool tells how its model speaks. */
export function familyOf(template: ChatTemplate): TextToolFamily {
  if (!template.source.includes("<tool_call>")) return promptedTags;
  const printed = probe(template);
  if (!printed.includes(PROBE.name)) return promptedTags;
  return printed.includes(PROBE.description) ? hermes : signatures;
}

function probe(template: ChatTemplate): string {
  try {
    return template.render([{ role: "user", content: "Hello" }], [PROBE]);
  } catch {
    return "";
  }
}
