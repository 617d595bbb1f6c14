// What a worker of sessions.mjs does: many conversations in one process.
import { setTimeout as sleep } from "node:timers/promises";
import { heap, timed } from "../lib/measure.mjs";
import { peerModule } from "../lib/peers.mjs";

const WAIT_MS = 20;
let open;

export async function begin({ peer }) {
  ({ open } = await import(peerModule(peer)));
}

/** Ten tools, of which one is called; the scripts of conversations keep apart by their place in the conversation. */
function toolsOf(waitMs) {
  return Array.from({ length: 10 }, (_, i) => ({
    name: `tool_${i}`,
    description: `Does thing number ${i} to a file and says what came of it.`,
    parameters: {
      type: "object",
      properties: { path: { type: "string", description: `The path of thing ${i}` }, limit: { type: "integer" } },
      required: ["path"],
    },
    run: async ({ path }) => {
      if (waitMs > 0) await sleep(waitMs);
      return `Thing ${i} of ${path} is done.`;
    },
  }));
}

/** Milliseconds of so many turns at once, each of three steps whose tool takes 20 ms, and what memory they took at most. */
export async function concurrent({ count }) {
  const conversations = [];
  const peers = [];
  for (let i = 0; i < count; i++) {
    let step = 0;
    const script = () => {
      const call = { id: `call_${i}_${step}`, name: `tool_${step}`, args: { path: `src/${i}/${step}.ts` } };
      return { text: `Step ${step} of ${i}.`, calls: step++ < 3 ? [call] : [] };
    };
    const peer = await open({ script, tools: toolsOf(WAIT_MS), steps: 4, declareAll: true });
    peers.push(peer);
    conversations.push(await peer.converse());
  }
  globalThis.gc();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  const { wall, cpu } = await timed(() => Promise.all(conversations.map((conversation) => conversation.ask("Go"))));
  clearInterval(watch);
  for (const conversation of conversations) await conversation.end();
  for (const peer of peers) await peer.close();
  return { wall, cpu: cpu / count, memory: (Math.max(most, process.memoryUsage().rss) - before) / 2 ** 20 };
}

/**
 * Kilobytes that one of so many conversations holds: begun, and after a turn of a question and an answer. Where the turns take
 * longer than `ms` altogether, that many of them are asked as can be by then.
 */
export async function idle({ count, ms }) {
  const script = () => ({
    text: "It is a quiet harbour town, and the ledger says that nothing came in today.",
    calls: [],
  });
  const peer = await open({ script, tools: toolsOf(0), steps: 4, declareAll: true, inMemory: true });
  const warm = await peer.converse();
  await warm.ask("What is new?");
  const held = [];
  const before = heap();
  for (let i = 0; i < count; i++) held.push(await peer.converse());
  const after = heap();
  const begun = (after - before) / count / 1000;
  const start = performance.now();
  let asked = 0;
  for (const conversation of held) {
    await conversation.ask("What is new in the harbour?");
    asked++;
    if (performance.now() - start > ms) break;
  }
  const used = begun + (heap() - after) / asked / 1000;
  for (const conversation of held) await conversation.end();
  return { begun, used, asked };
}
