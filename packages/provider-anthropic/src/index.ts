export { AnthropicMessagesProvider } from "./provider.js";
