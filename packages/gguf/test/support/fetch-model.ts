// A process of its own that fetches a model; the tests kill it. Arguments: endpoint, cache folder, reference.
import { resolveModel } from "../../src/index.js";

const [endpoint, cacheDir, reference = ""] = process.argv.slice(2);
const transfer = { partBytes: 32 * 1024, connections: 3, retryDelayMs: 1 };
const { path, source } = await resolveModel(reference, {
  hub: { endpoint, cacheDir, transfer },
  onEvent: (event) => console.log(JSON.stringify(event)),
});
console.log(JSON.stringify({ type: "done", path, source }));
