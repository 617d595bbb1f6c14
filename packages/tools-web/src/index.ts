export type { WebClient, WebRequest, WebResponse } from "./client.js";
export type { DocumentText, WebFile } from "./files.js";
export type { SearchClient, SearchHit, SearchOptions } from "./search-client.js";
export { type SearxngOptions, searxng } from "./searxng.js";
export {
  type WebFetchInput,
  type WebFetchOptions,
  type WebFetchOutput,
  type WebFetchParams,
  webFetchTool,
} from "./web-fetch.js";
export { type WebSearchInput, type WebSearchOutput, type WebSearchParams, webSearchTool } from "./web-search.js";
