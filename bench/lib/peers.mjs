import { readFileSync } from "node:fs";
import { join } from "node:path";

const HERE = join(import.meta.dirname, "..");

const ALL = ["chat", "responses", "anthropic"];

/** Each peer's adapter, which does the same work in its own way (`open(options)` gives conversations), and its wires. */
export const PEERS = {
  "@shedkit/agent": { module: "peers/shedkit.mjs", wires: ALL },
  "pi-agent-core": { module: "peers/pi.mjs", wires: ALL },
  ai: { module: "peers/ai.mjs", wires: ALL },
  "@tanstack/ai": { module: "peers/tanstack.mjs", wires: ALL },
  "@openai/agents": { module: "peers/openai-agents.mjs", wires: ["chat", "responses"] },
  langchain: { module: "peers/langchain.mjs", wires: ALL },
  "@strands-agents/sdk": { module: "strands/peer.mjs", wires: ALL },
  "@mastra/core": { module: "peers/mastra.mjs", wires: ALL },
};
export const BOUND = { "bare SDK": { module: "peers/sdk.mjs", wires: ALL } };
export const OURS = "@shedkit/agent";

export function peerModule(name) {
  return join(HERE, { ...PEERS, ...BOUND }[name].module);
}

/** The versions of all that is measured, as installed. */
export function versions() {
  const found = {};
  for (const folder of [HERE, join(HERE, "strands")]) {
    const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies)) {
      found[name] ??= JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
    }
  }
  return found;
}
