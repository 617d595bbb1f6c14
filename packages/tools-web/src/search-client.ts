/** Something that a search found. */
export interface SearchHit {
  title: string;
  url: string;
  /** What the page says about it, in short. */
  snippet: string;
  /** As the engine wrote it. */
  published?: string | undefined;
}

/** Which results are wanted. */
export interface SearchOptions {
  /** From 1. */
  page: number;
  /** Only pages of these hosts and what is below them; empty for all. */
  domains: readonly string[];
  signal: AbortSignal;
}

/** Searches the web: {@link searxng}, or a service of your own. */
export interface SearchClient {
  /**
   * The best first. Rejects with ToolError: `network`, `rateLimited`, `serviceUnavailable`, `execution`; or with the reason of an
   * aborted signal.
   */
  search(query: string, options: SearchOptions): Promise<readonly SearchHit[]>;
}
