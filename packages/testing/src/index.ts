export { Gate } from "./gate.js";
export { type TinyGgufOptions, tinyChatTemplate, tinyGguf } from "./gguf.js";
export type { ScriptedAnswer, ScriptedPart, ScriptedReply, ScriptedStep } from "./scripted-answer.js";
export { ScriptedProvider, type ScriptedProviderOptions } from "./scripted-provider.js";
