export { type FromAiSdkOptions, fromAiSdkTools } from "./from-ai-sdk.js";
export type { AiSdkModelOutput, AiSdkModelPart, AiSdkSchema, AnyAiSdkTool } from "./schema.js";
export {
  type AiSdkTool,
  type AiSdkTools,
  type ShedToolOutput,
  type ToAiSdkOptions,
  toAiSdkTools,
} from "./to-ai-sdk.js";
