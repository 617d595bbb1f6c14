export type { ModelProblem } from "./error.js";
export { type GgufHeader, type GgufTensor, type GgufValue, type ReadHeaderOptions, readGgufHeader } from "./header.js";
export { type HubSettings, type HubToken, hubSettingsFromEnv, type TransferSettings } from "./hub/settings.js";
export { inspectModel, type ModelInspection } from "./inspect.js";
export type { CacheType } from "./kv-cache.js";
export { checkGgufFile, type LocalGguf } from "./local-file.js";
export { estimateMemory, type MemoryEstimate, type MemoryOptions, type MemorySplit } from "./memory.js";
export { namedModels } from "./named-models.js";
export { type Machine, type ModelPlan, machineFromOs, type PlanOptions, planModel } from "./plan.js";
export {
  DEFAULT_QUANTIZATION,
  parseQuantization,
  type Quantization,
  type QuantizationFamily,
  quantization,
  quantizationOfFile,
  quantizations,
} from "./quantization.js";
export { formatModelReference, type ModelReference, parseModelReference } from "./reference.js";
export { fetchRepositoryFiles, type RepositoryFiles, type RepositoryFilesOptions } from "./repository-files.js";
export { type ModelFetchEvent, type ResolvedModel, type ResolveModelOptions, resolveModel } from "./resolve.js";
export {
  type ChosenVariant,
  chooseVariant,
  type ModelFile,
  type ModelVariant,
  modelVariants,
  type VariantWish,
} from "./variants.js";
