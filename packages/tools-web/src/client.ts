/** Gets pages from the web: one request, no redirection followed. */
export interface WebClient {
  /**
   * Rejects with ToolError: `permissionDenied` for an address that must not be reached, `network` where it cannot be, or
   * with the reason of an aborted signal.
   */
  get(url: URL, options: WebRequest): Promise<WebResponse>;
}

/** What a page is asked for with. */
export interface WebRequest {
  headers: { readonly [name: string]: string };
  /** How much of the body is wanted, unpacked. */
  maxBytes: number;
  signal: AbortSignal;
}

/** What a server answered, whatever its status. */
export interface WebResponse {
  status: number;
  /** Names in small letters. */
  headers: { readonly [name: string]: string | undefined };
  /** Unpacked. */
  body: Uint8Array;
  /** True where the body is longer. */
  truncated: boolean;
}
