// What a worker of turn-overhead.mjs does: turns of one question each, over HTTP.
import { timed } from "../lib/measure.mjs";
import { peerModule } from "../lib/peers.mjs";

const open = {};

export async function begin({ peer, wire, url, tokens, model }) {
  const { open: make } = await import(peerModule(peer));
  for (const count of tokens) open[count] = await make({ wire, url: url.replace("COUNT", count), model });
}

/** Milliseconds of a turn. */
export async function turns({ tokens, count }) {
  const expected = tokens * " word0".length;
  globalThis.gc();
  const { wall, cpu } = await timed(async () => {
    for (let i = 0; i < count; i++) {
      const conversation = await open[tokens].converse();
      const text = await conversation.ask("What is there to say?");
      if (text.length !== expected) throw new Error(`${text.length} characters came instead of ${expected}`);
      await conversation.end();
    }
  });
  return { wall: wall / count, cpu: cpu / count };
}

/** The most memory the process has taken so far, in megabytes. */
export function peak() {
  return process.resourceUsage().maxRSS / 1024;
}
