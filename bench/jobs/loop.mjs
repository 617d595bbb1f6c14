// What a worker of tool-loop.mjs does: loops of tool calls in process, with a model that costs nearly nothing.
import { cpu, heap } from "../lib/measure.mjs";
import { peerModule } from "../lib/peers.mjs";

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const WINDOW = 50;
const WORDS =
  "harbour ledger violet granite compass meadow lantern thicket orbit saddle copper willow anchor prism".split(" ");

/** No step is like another, as in real work: else what looks for circles finds one. */
function phrase(step) {
  let text = "";
  for (let i = 0, seed = step * 2654435761; i < 6; i++) {
    seed = Math.imul(seed ^ (seed >>> 15), 2246822519) >>> 0;
    text += `${WORDS[seed % WORDS.length]} `;
  }
  return `${text}${step}`;
}
let open;
let before; // an open conversation, as in a process that serves several: else the engine forgets what it compiled

export async function begin({ peer }) {
  ({ open } = await import(peerModule(peer)));
  before = await made(5, 1, () => {});
  await before.run();
}

/** The loop of some steps, each of so many calls that take `waitMs`. */
async function made(steps, calls, onStep, waitMs = 0) {
  let asked = 0;
  const script = () => {
    const step = asked++;
    onStep(step);
    const call = (_, i) => ({ id: `call_${step}_${i}`, name: "echo", args: { text: `${phrase(step)}.${i}` } });
    return { text: `I look up ${phrase(step)}.`, calls: step < steps ? Array.from({ length: calls }, call) : [] };
  };
  const echo = {
    ...{ name: "echo", description: "Says a text back.", parameters: schema },
    run: async ({ text }) => {
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      return `echo: ${text}`;
    },
  };
  const peer = await open({ script, tools: [echo], steps, declareAll: true });
  const conversation = await peer.converse();
  return {
    async run() {
      await conversation.ask("Go");
      if (asked !== steps + 1) throw new Error(`It stopped after ${asked} answers of ${steps + 1}.`);
    },
    async end() {
      await conversation.end();
      await peer.close();
    },
    conversation,
  };
}

/**
 * Milliseconds of a step, and how late steps compare to early ones. With `memory` also the megabytes that the conversation
 * keeps while it is open: to collect all garbage makes the engine drop what it has compiled, so the time is another then.
 */
export async function steps({ count, memory = false }) {
  const marks = new Map([25, 25 + WINDOW, count - WINDOW, count].map((step) => [step, 0]));
  const loop = await made(count, 1, (step) => {
    if (marks.has(step)) marks.set(step, cpu()); // no oftener: it costs as much as half a step
  });
  const before = memory && heap();
  const [start, startCpu] = [performance.now(), cpu()];
  await loop.run();
  const [wall, used] = [performance.now() - start, (cpu() - startCpu) / 1000];
  if (memory) await new Promise((resolve) => setTimeout(resolve, 20)); // what it does behind its answer
  const held = memory ? (heap() - before) / 1e6 : undefined;
  await loop.end();
  const since = (from, to) => marks.get(to) - marks.get(from);
  const growth = count >= 4 * WINDOW ? since(count - WINDOW, count) / since(25, 25 + WINDOW) : undefined;
  return { wall: wall / count, cpu: used / count, held, growth };
}

/** Milliseconds of ten steps with eight calls each, every one of which waits 20 ms. */
export async function parallel() {
  const loop = await made(10, 8, () => {}, 20);
  const start = performance.now();
  const startCpu = cpu();
  await loop.run();
  const result = { wall: performance.now() - start, cpu: (cpu() - startCpu) / 1000 };
  await loop.end();
  return result;
}

/** The most memory the process has taken so far, in megabytes. */
export function peak() {
  return process.resourceUsage().maxRSS / 1024;
}
