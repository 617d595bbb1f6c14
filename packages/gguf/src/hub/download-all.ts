import type { ModelFetchEvent } from "../resolve.js";
import { downloadToCache, isInCache } from "./download.js";
import type { HubFile, HubRepository } from "./repository.js";
import type { Hub } from "./settings.js";

/** Brings files into the cache, one after the other, and says how far all of them together are. */
export async function downloadAll(
  hub: Hub,
  repository: HubRepository,
  wanted: readonly HubFile[],
  onEvent: ((event: ModelFetchEvent) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<{ files: string[]; source: "cache" | "download" }> {
  const bytes = wanted.reduce((sum, file) => sum + file.bytes, 0);
  const missing: HubFile[] = [];
  for (const file of wanted) if (!(await isInCache(hub, repository, file))) missing.push(file);
  const files: string[] = [];
  let before = 0;
  let source: "cache" | "download" = "cache";
  for (const file of wanted) {
    const done = before;
    const tell = (type: "downloading" | "verifying") =>
      steps(file.bytes, (n) => onEvent?.({ type, file: file.path, bytesDone: done + n, bytesTotal: bytes }));
    const events = {
      waiting: () => onEvent?.({ type: "waiting", file: file.path }),
      downloading: tell("downloading"),
      verifying: tell("verifying"),
    };
    if (file === missing[0]) missing.shift();
    const later = missing.reduce((sum, one) => sum + one.bytes, 0);
    const { location, fetched } = await downloadToCache(hub, repository, file, later, events, signal);
    if (fetched) source = "download";
    files.push(location);
    before += file.bytes;
  }
  return { files, source };
}

/** Passes on the first number, the last one, and between them one in a thousandth of the way or in a MiB. */
function steps(total: number, tell: (bytesDone: number) => void): (bytesDone: number) => void {
  const step = Math.min(total / 1000, 1024 * 1024);
  let next = 0;
  return (bytesDone) => {
    if (bytesDone < next && bytesDone < total) return;
    next = bytesDone + step;
    tell(bytesDone);
  };
}
