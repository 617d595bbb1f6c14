// What a worker of long-session.mjs does: one session over a store, turn after turn; and taking it up again.
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { cpu, heap } from "../lib/measure.mjs";
import { peerModule } from "../lib/peers.mjs";

const STEPS = 20; // of a turn
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const line = (i) => `line ${i}: the ${["harbour", "ledger", "granite", "compass"][i % 4]} of ${i * 7919}\n`;

/** How each keeps sessions: options of the peer's adapter over a folder, and what closes the store. */
const KEEPERS = {
  "@shedkit/agent, libsql": ["@shedkit/agent", (folder) => shedkit(folder, "libsql")],
  "@shedkit/agent, level": ["@shedkit/agent", (folder) => shedkit(folder, "level")],
  "@shedkit/agent, JSON lines": ["@shedkit/agent", (folder) => shedkit(folder, "json")],
  "@shedkit/agent, in memory": ["@shedkit/agent", async () => [{}, () => {}]],
  "langchain, SqliteSaver": [
    "langchain",
    async (folder) => {
      const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
      return [{ checkpointer: SqliteSaver.fromConnString(join(folder, "a.db")) }, () => {}];
    },
  ],
  "@mastra/core, LibSQLStore": [
    "@mastra/core",
    async (folder) => {
      const { LibSQLStore } = await import("@mastra/libsql");
      const { Memory } = await import("@mastra/memory");
      const storage = new LibSQLStore({ id: "store", url: `file:${join(folder, "a.db")}` });
      // The whole conversation, as with the others; by default it is the last ten messages.
      return [{ memory: new Memory({ storage, options: { lastMessages: 100_000 } }) }, () => {}];
    },
  ],
  "@strands-agents/sdk, files": ["@strands-agents/sdk", async (folder) => [{ storageFolder: folder }, () => {}]],
};

async function shedkit(folder, kind) {
  const { KvMemoryStore, SqlDocumentStore } = await import("@shedkit/store");
  let documents;
  let storage;
  if (kind === "libsql") {
    const { LibsqlStorage } = await import("@shedkit/store-libsql");
    storage = await LibsqlStorage.open(`file:${join(folder, "a.db")}`);
    documents = new SqlDocumentStore(storage);
  } else if (kind === "level") {
    const { LevelStorage, LevelDocumentStore } = await import("@shedkit/store-level");
    storage = await LevelStorage.open(join(folder, "level"));
    documents = new LevelDocumentStore(storage);
  } else {
    const { JsonFileStorage, JsonFileDocumentStore } = await import("@shedkit/store-json-file");
    storage = await JsonFileStorage.open(folder);
    documents = new JsonFileDocumentStore(storage);
  }
  const stores = (builder) => builder.withDocStore(documents).withMemoryStore(new KvMemoryStore(storage));
  const close = async () => {
    await documents.close();
    await storage.close();
  };
  return [{ stores }, close];
}

let peer;
let conversation;
let close;
let asked = 0;
let turn = 0;
let firstAt; // when the model was first asked in a turn
let seen = 0; // messages that the model was given then

/** Opens the store and the session, and gives what that took. Code is loaded before. */
export async function begin({ keeper, folder, turns = 0 }) {
  mkdirSync(folder, { recursive: true });
  const [name, keep] = KEEPERS[keeper];
  const { open } = await import(peerModule(name));
  const [startCpu, start] = [cpu(), performance.now()];
  const [options, end] = await keep(folder);
  close = end;
  turn = turns;
  const script = (messages) => {
    firstAt ??= performance.now();
    seen = messages;
    const step = asked++;
    const calls =
      step < STEPS
        ? [{ id: `call_${turn}_${step}`, name: "read", args: { path: `src/part-${turn}/file-${step}.ts` } }]
        : [];
    return { text: `I read file ${step} of part ${turn}: ${line(step + turn)}`, calls };
  };
  const read = {
    ...{ name: "read", description: "Reads a file.", parameters: schema },
    run: async ({ path }) => `${path}\n${Array.from({ length: 5 }, (_, i) => line(i + turn + asked)).join("")}`,
  };
  peer = await open({ script, tools: [read], steps: STEPS, declareAll: true, ...options });
  conversation = await peer.converse("long");
  return { wall: performance.now() - start, cpu: (cpu() - startCpu) / 1000 };
}

/** So many turns of 20 steps: milliseconds of a step, and what is held after them. */
export async function turns({ count }) {
  const [startCpu, start] = [cpu(), performance.now()];
  for (let i = 0; i < count; i++) {
    asked = 0;
    await conversation.ask(`Go on with part ${turn}`);
    if (asked !== STEPS + 1) throw new Error(`It stopped after ${asked} answers.`);
    turn++;
  }
  const steps = count * STEPS;
  const [wall, used] = [performance.now() - start, (cpu() - startCpu) / 1000];
  return { wall: wall / steps, cpu: used / steps, heap: heap() / 1e6, seen };
}

/** How long a turn takes from the question to the model being asked, and how many messages it is given. */
export async function ask() {
  asked = STEPS; // it answers at once
  firstAt = undefined;
  const start = performance.now();
  const startCpu = cpu();
  await conversation.ask("Where were we?");
  return { toModel: firstAt - start, cpu: (cpu() - startCpu) / 1000, seen };
}

export function size({ folder }) {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return (
    all.reduce((sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0), 0) / 1e6
  );
}

export async function end() {
  await conversation.end();
  await close();
  return process.resourceUsage().maxRSS / 1024;
}
