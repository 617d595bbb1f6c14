export type { OnnxDtype, OnnxFolder, OnnxResolver, TransformersOptions } from "./options.js";
export { TransformersProvider } from "./provider.js";
