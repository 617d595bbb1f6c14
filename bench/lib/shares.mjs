import { quick } from "./report.mjs";

/**
 * Seconds that each measurement may take, of everything and of `--quick`. What repeats itself does fewer rounds on a slow or busy
 * machine, not longer ones; what does not (tokens, files) is done when it is done, and stands here with what it takes.
 */
export const SHARES = {
  "turn-overhead": [300, 45],
  "tool-loop": [300, 45],
  "long-session": [270, 45],
  "context-cost": [120, 40],
  "shed-search": [150, 20],
  "shed-search-embedder": [240, 0],
  sessions: [300, 45],
  "install-size": [300, 60],
  "local-generation": [150, 20],
  types: [10, 10],
  dispatch: [5, 5],
  "provider-overhead": [120, 0],
  "agent-steps": [150, 0],
  tools: [200, 0],
};

/** Milliseconds: a part of a measurement's share. */
export function share(name, part = 1) {
  return SHARES[name][quick ? 1 : 0] * part * 1000;
}
