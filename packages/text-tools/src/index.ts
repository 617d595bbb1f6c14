export {
  ChatTemplate,
  type ChatTemplateOptions,
  type TemplateCall,
  type TemplateMessage,
} from "./chat-template.js";
export { deepseekDsml } from "./dsml.js";
export { CHATML, familyOf } from "./families.js";
export type {
  Conversation,
  ParserOptions,
  RenderOptions,
  TextEvent,
  TextParser,
  TextToolFamily,
} from "./family.js";
export { gemma4 } from "./gemma.js";
export { harmony } from "./harmony.js";
export { deepseek, deepseek31, kimi, mistral, mistralArgs } from "./header-calls.js";
export { gemma3, hermes, promptedTags, signatures } from "./json-tags.js";
export { llama3 } from "./llama3.js";
export { callableTools } from "./offered.js";
export { glm, qwenCoder } from "./tagged-calls.js";
export { thinkingBudget, thinkingOptions } from "./thinking.js";
