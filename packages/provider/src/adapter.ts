export { argumentsObject, readCallArguments } from "./adapter/arguments.js";
export type { CloudProviderConfig } from "./adapter/config.js";
export { type Attempt, type Drive, drive } from "./adapter/drive.js";
export { RequestLimit, type RequestLimitOptions } from "./adapter/limit.js";
export { knownModel, type ModelTable, priced } from "./adapter/models.js";
export { factsOf, sdkFailure } from "./adapter/sdk-failure.js";
export { AnswerSink, type BlockExtras, type BlockKey, type CallReading } from "./adapter/sink.js";
