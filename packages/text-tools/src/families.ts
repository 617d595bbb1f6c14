import type { ChatTemplate } from "./chat-template.js";
import { deepseekDsml } from "./dsml.js";
import type { TextToolFamily } from "./family.js";
import { gemma4 } from "./gemma.js";
import { harmony } from "./harmony.js";
import { deepseek, deepseek31, kimi, mistral, mistralArgs } from "./header-calls.js";
import { gemma3, hermes, promptedTags, signatures } from "./json-tags.js";
import { llama3 } from "./llama3.js";
import { glm, qwenCoder } from "./tagged-calls.js";

/** For a model that brings no chat template. */
export const CHATML =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** What in a chat template tells the family; the first that is in it counts. */
const SIGNS: readonly (readonly [sign: string, family: TextToolFamily])[] = [
  ["<|tool_call>", gemma4],
  ["<|channel|>", harmony],
  ["｜DSML｜", deepseekDsml],
  ["<｜tool▁call▁begin｜>", deepseek31],
  ["<|tool_calls_section_begin|>", kimi],
  ["<|tool_call_begin|>", kimi],
  ["<|im_middle|>", kimi],
  ["[ARGS]", mistralArgs],
  ["[TOOL_CALLS]", mistral],
  ["<arg_key>", glm],
  ["<function=", qwenCoder],
  ["<start_of_turn>", gemma3],
];

/** The family that a model's chat template belongs to: what it writes of calls, and prints of a tool, tells. */
export function familyOf(template: ChatTemplate): TextToolFamily {
  const { source, prints } = template;
  // Functionary 3.2 has Llama's headers and calls of its own.
  if (source.includes("<|start_header_id|>") && prints.name && !source.includes(">>>")) return llama3;
  const sign = SIGNS.find(([text]) => source.includes(text));
  if (sign) return sign[1] === deepseek31 && source.includes("```json") ? deepseek : sign[1];
  if (!source.includes("<tool_call>") || !prints.name) return promptedTags;
  return prints.description ? hermes : signatures;
}
