// What a turn costs over HTTP: one question, an answer of 500 tokens, from a scripted server in a process of its own.
import { BOUND, OURS, PEERS } from "./lib/peers.mjs";
import { number, quick, report, spread, wantedOf } from "./lib/report.mjs";
import { figures, inTurn } from "./lib/rounds.mjs";
import { startServer } from "./lib/server/start.mjs";
import { share } from "./lib/shares.mjs";
import { startWorkers } from "./lib/workers.mjs";

const [ROUNDS, TURNS, LONG_TURNS, WARM] = quick ? [3, 4, 1, 1] : [9, 10, 2, 3];
const MS = share("turn-overhead", 0.28); // of each wire; the rest is for starting and ending
const TURN = 500;
const LONG = 2500;
const MODELS = { chat: "gpt-4.1", responses: "gpt-4.1", anthropic: "claude-sonnet-4-5" };
const TITLES = { chat: "OpenAI Chat Completions", responses: "OpenAI Responses", anthropic: "Anthropic Messages" };

const wanted = wantedOf(Object.keys({ ...BOUND, ...PEERS }), OURS);
const server = await startServer();
const tables = [];
const data = {};
const notes = [];
for (const wire of Object.keys(MODELS)) {
  const names = wanted.filter((name) => ({ ...BOUND, ...PEERS })[name].wires.includes(wire));
  for (const name of wanted) if (!names.includes(name)) notes.push(`${name} has no ${TITLES[wire]} of its own.`);
  await measure(wire, names);
}
server.end();
for (const fault of server.faults) notes.push(`The server failed: ${fault}`);
report("turn-overhead", { tables, data, notes });
process.exit();

async function measure(wire, names) {
  const setting = { wire, url: server.url("text-COUNT"), tokens: [TURN, LONG], model: MODELS[wire] };
  const workers = await startWorkers(names, new URL("./jobs/turn.mjs", import.meta.url).href, (worker, peer) =>
    worker.call("begin", { peer, ...setting }),
  );
  const ask = async (name) => {
    const turn = await workers[name].call("turns", { tokens: TURN, count: TURNS });
    const memory = await workers[name].call("peak");
    const long = await workers[name].call("turns", { tokens: LONG, count: LONG_TURNS });
    const token = ((long.cpu - turn.cpu) * 1000) / (LONG - TURN);
    return { ...turn, token, memory };
  };
  const { got, faults } = await inTurn(names, ROUNDS, ask, { warm: WARM, ms: MS });
  for (const worker of Object.values(workers)) worker.end();
  for (const [name, fault] of Object.entries(faults)) notes.push(`${name}, ${wire}, failed: ${fault}`);
  const [cpu, wall, token, memory] = ["cpu", "wall", "token", "memory"].map((key) => figures(got, key, OURS));
  data[wire] = { cpu, wall, token, memory };
  tables.push({
    key: wire,
    title: `${TITLES[wire]}: a turn of ${TURN} tokens`,
    head: ["", "CPU, ms", "beside ours", "wall, ms", "beside ours", "CPU a token, us", "peak memory, MB"],
    rows: names.map((name) => [
      name,
      spread(cpu[name]),
      number(cpu[name]?.ratio),
      spread(wall[name]),
      number(wall[name]?.ratio),
      spread(token[name]),
      number(memory[name]?.high),
    ]),
  });
}
