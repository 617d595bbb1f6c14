export { OpenAIProvider } from "./provider.js";
