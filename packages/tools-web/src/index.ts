export type { WebClient, WebRequest, WebResponse } from "./client.js";
export { type WebFetchInput, type WebFetchOutput, type WebFetchParams, webFetchTool } from "./web-fetch.js";
