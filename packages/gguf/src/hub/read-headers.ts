import { type GgufHeader, readGgufHeader } from "../header.js";
import type { HubRepository } from "./repository.js";
import type { Hub } from "./settings.js";

/** The headers of files of a repository, in order, by requests for ranges. */
export async function readHubHeaders(
  hub: Hub,
  { repo, commit }: HubRepository,
  files: readonly { path: string }[],
  signal: AbortSignal | undefined,
): Promise<GgufHeader[]> {
  const headers: GgufHeader[] = [];
  for (const { path } of files) {
    const url = `${hub.endpoint}/${repo}/resolve/${commit}/${path.split("/").map(encodeURIComponent).join("/")}`;
    headers.push(await readGgufHeader(url, { token: hub.token, fetch: hub.fetch, signal }));
  }
  return headers;
}
