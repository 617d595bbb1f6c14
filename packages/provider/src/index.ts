export type { ModelDescription, ModelEvent, ModelParams, ModelPrice, ModelProvider, ModelRequest } from "./contract.js";
