export { ResponsesProvider } from "./provider.js";
