export {
  ChatTemplate,
  type ChatTemplateOptions,
  type TemplateCall,
  type TemplateMessage,
} from "./chat-template.js";
export { CHATML, familyOf } from "./families.js";
export type {
  Conversation,
  ParserOptions,
  RenderOptions,
  TextEvent,
  TextParser,
  TextToolFamily,
} from "./family.js";
export { hermes, promptedTags, signatures } from "./json-tags.js";
export { callableTools } from "./offered.js";
export { glm, qwenCoder } from "./tagged-calls.js";
