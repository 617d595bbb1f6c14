import type { ChatTemplate } from "./chat-template.js";
import type { TextToolFamily } from "./family.js";
import { hermes, promptedTags, signatures } from "./json-tags.js";
import { glm, qwenCoder } from "./tagged-calls.js";

/** For a model that brings no chat template. */
export const CHATML =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** The family that a model's chat template belongs to: what it writes of calls, and prints of a tool, tells. */
export function familyOf(template: ChatTemplate): TextToolFamily {
  const { source, prints } = template;
  if (source.includes("<arg_key>")) return glm;
  if (source.includes("<function=")) return qwenCoder;
  if (!source.includes("<tool_call>") || !prints.name) return promptedTags;
  return prints.description ? hermes : signatures;
}
