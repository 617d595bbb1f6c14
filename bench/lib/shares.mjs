import { quick } from "./report.mjs";

/**
 * Seconds that each measurement may take, of everything and of `--quick`. What repeats itself does fewer rounds on a slow or busy
 * machine, not longer ones; what does not (tokens, files) is done when it is done, and stands here with what it takes.
 */
export const SHARES = {
  "turn-overhead": [300, 40],
  "tool-loop": [300, 45],
  "long-session": [270, 30],
  "context-cost": [120, 45],
  "shed-search": [150, 17],
  "shed-search-embedder": [240, 0],
  sessions: [300, 36],
  "install-size": [300, 40],
  "local-generation": [150, 15],
  types: [10, 5],
  dispatch: [5, 3],
  "provider-overhead": [120, 0],
  "agent-steps": [150, 0],
  tools: [200, 0],
  "dependency-sizes": [5, 0],
};

/** Milliseconds: a part of a measurement's share. */
export function share(name, part = 1) {
  return SHARES[name][quick ? 1 : 0] * part * 1000;
}
