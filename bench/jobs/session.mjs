// What a worker of long-session.mjs does: one session over a store, turn after turn; and taking it up again.
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { cpu, heap } from "../lib/measure.mjs";
import { peerModule } from "../lib/peers.mjs";

const STEPS = 20; // of a turn
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const line = (i) => `line ${i}: the ${["harbour", "ledger", "granite", "compass"][i % 4]} of ${i * 7919}\n`;

/** How each keeps sessions: its peer, and what loads the code of its store and gives, for a folder, the adapter's options and an end. */
const KEEPERS = {
  "@shedkit/agent, libsql": ["@shedkit/agent", () => shedkit("libsql")],
  "@shedkit/agent, level": ["@shedkit/agent", () => shedkit("level")],
  "@shedkit/agent, JSON lines": ["@shedkit/agent", () => shedkit("json")],
  "@shedkit/agent, in memory": ["@shedkit/agent", async () => () => [{}, () => {}]],
  "langchain, SqliteSaver": [
    "langchain",
    async () => {
      const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
      return (folder) => [{ checkpointer: SqliteSaver.fromConnString(join(folder, "a.db")) }, () => {}];
    },
  ],
  "@mastra/core, LibSQLStore": [
    "@mastra/core",
    async () => {
      const { LibSQLStore } = await import("@mastra/libsql");
      const { Memory } = await import("@mastra/memory");
      return (folder) => {
        const storage = new LibSQLStore({ id: "store", url: `file:${join(folder, "a.db")}` });
        // The whole conversation, as with the others; by default it is the last ten messages.
        return [{ memory: new Memory({ storage, options: { lastMessages: 100_000 } }) }, () => {}];
      };
    },
  ],
  "@strands-agents/sdk, files": ["@strands-agents/sdk", async () => (folder) => [{ storageFolder: folder }, () => {}]],
};

async function shedkit(kind) {
  const { KvMemoryStore, SqlDocumentStore } = await import("@shedkit/store");
  const { LibsqlStorage } = await import("@shedkit/store-libsql");
  const { LevelStorage, LevelDocumentStore } = await import("@shedkit/store-level");
  const { JsonFileStorage, JsonFileDocumentStore } = await import("@shedkit/store-json-file");
  const kinds = {
    libsql: async (folder) => {
      const storage = await LibsqlStorage.open(`file:${join(folder, "a.db")}`);
      return [storage, new SqlDocumentStore(storage)];
    },
    level: async (folder) => {
      const storage = await LevelStorage.open(join(folder, "level"));
      return [storage, new LevelDocumentStore(storage)];
    },
    json: async (folder) => {
      const storage = await JsonFileStorage.open(folder);
      return [storage, new JsonFileDocumentStore(storage)];
    },
  };
  // Its client is loaded when a first store is opened; that of Mastra when the module is.
  if (kind === "libsql") await (await LibsqlStorage.open(":memory:")).close();
  return async (folder) => {
    const [storage, documents] = await kinds[kind](folder);
    const stores = (builder) => builder.withDocStore(documents).withMemoryStore(new KvMemoryStore(storage));
    const close = async () => {
      await documents.close();
      await storage.close();
    };
    return [{ stores }, close];
  };
}

let peer;
let conversation;
let close;
let asked = 0;
let turn = 0;
let firstAt; // when the model was first asked in a turn
let seen = 0; // messages that the model was given then

/** Opens the store and the session, and gives what that took. Code is loaded before, also what is loaded at a first turn. */
export async function begin({ keeper, folder, turns = 0 }) {
  mkdirSync(folder, { recursive: true });
  const [name, load] = KEEPERS[keeper];
  const { open } = await import(peerModule(name));
  const keep = await load();
  await firstTurn(open);
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
  peer = await open({ script, tools: [read], steps: STEPS, declareAll: true, ...options });
  conversation = await peer.converse("long");
  return { wall: performance.now() - start, cpu: (cpu() - startCpu) / 1000 };
}

const read = {
  ...{ name: "read", description: "Reads a file.", parameters: schema },
  run: async ({ path }) => `${path}\n${Array.from({ length: 5 }, (_, i) => line(i + turn + asked)).join("")}`,
};

/** One turn with one call in another conversation, which no store keeps. */
async function firstTurn(open) {
  let step = 0;
  const script = () => ({
    text: "I read a file.",
    calls: step++ === 0 ? [{ id: "call_first", name: "read", args: { path: "src/first.ts" } }] : [],
  });
  const first = await open({ script, tools: [read], steps: STEPS, declareAll: true });
  const short = await first.converse();
  await short.ask("Read a file");
  await short.end();
  await first.close();
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
