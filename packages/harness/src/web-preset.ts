import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import type { DocumentText } from "@shedkit/tools-web";
import { given, type Settings } from "./given.js";
import { optionalPeer } from "./optional-peer.js";

/** Settings of `web_fetch`, as `@shedkit/tools-web` describes them. What is absent is its default. */
export interface WebFetchPresetOptions
  extends Settings<{
    maxChars: number;
    maxBytes: number;
    timeoutMs: number;
    cacheMs: number;
    allowedDomains: string[];
    deniedDomains: string[];
    folder: string;
  }> {
  /** Also this machine, where it is named as such. Default: false. */
  allowLocal?: boolean | undefined;
  /** Gives the text of PDFs. Needs `@shedkit/tools-documents`. Default: false. */
  documents?: boolean | undefined;
  /** Where what cannot be shown is saved; the tool is not read-only then. Default: nowhere. */
  fs?: FileSystem | undefined;
}

/** Settings of `web_search`, likewise. */
export type WebSearchPresetOptions = Settings<{ timeoutMs: number; maxSnippetChars: number }>;

/** What searches the web: the `SearchClient` of `@shedkit/tools-web`. */
export interface WebSearcher {
  search(
    query: string,
    options: { page: number; domains: readonly string[]; signal: AbortSignal },
  ): Promise<readonly { title: string; url: string; snippet: string; published?: string | undefined }[]>;
}

const name = "@shedkit/tools-web";
const tools = () => optionalPeer(name, () => import("@shedkit/tools-web"));

/** `web_fetch` on the public web, as a constructor that imports its package. */
export function webFetchTools({
  allowLocal,
  documents = false,
  fs,
  ...settings
}: WebFetchPresetOptions): ToolConstructor[] {
  const construct = async () => {
    const { webFetchTool } = await tools();
    const { NodeWebClient } = await optionalPeer(name, () => import("@shedkit/tools-web/node"));
    const documentText = documents ? await pdfReader() : undefined;
    return webFetchTool(new NodeWebClient({ allowLocal }), given(settings), { documentText, fs });
  };
  return [{ name: "web_fetch", needsSession: false, construct }];
}

async function pdfReader(): Promise<DocumentText> {
  const { pdfText } = await optionalPeer("@shedkit/tools-documents", () => import("@shedkit/tools-documents"));
  return async ({ mediaType, bytes, url }, signal) =>
    mediaType === "application/pdf" ? pdfText(bytes, { name: url, signal }) : undefined;
}

export function webSearchTools(client: WebSearcher, settings: WebSearchPresetOptions): ToolConstructor[] {
  const construct = async () => (await tools()).webSearchTool(client, given(settings));
  return [{ name: "web_search", needsSession: false, construct }];
}
