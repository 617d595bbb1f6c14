export { type FromAiSdkOptions, fromAiSdkTools } from "./from-ai-sdk.js";
export { type AiSdkTools, type ShedToolOutput, type ToAiSdkOptions, toAiSdkTools } from "./to-ai-sdk.js";
