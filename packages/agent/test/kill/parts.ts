import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { ToolShed } from "@shedkit/shed";
import { KvMemoryStore } from "@shedkit/store";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { AgentSession } from "../../src/index.js";
import { openStore, type StoreKind } from "./stores.js";

/** Where a session is that a process works on. */
export interface Place {
  kind: StoreKind;
  /** For the marks of the tools, and the store where it has no server. */
  folder: string;
  sessionId: string;
  server: string;
}

/** Places in a turn that a kill must hit, whatever the clock says: around what a tool does, and within an append. */
export const moments = ["beforeEffect", "afterEffect", "append"] as const;
export type Moment = (typeof moments)[number];

/** Tells of a moment, and may keep whoever comes to it. */
export type AtMoment = (moment: Moment) => Promise<void> | void;

/** The session that is killed and the one that resumes it are the same, but for what the model says. */
export async function killable(
  { kind, folder, sessionId, server }: Place,
  provider: ScriptedProvider,
  { more = [], at = () => undefined }: { more?: readonly ToolImpl[]; at?: AtMoment } = {},
) {
  const { storage, store } = await openStore(kind, folder, server);
  const append = store.append.bind(store);
  store.append = async (...args) => {
    const kept = at("append"); // told while the append is under way
    const seq = await append(...args);
    await kept;
    return seq;
  };
  const tools = new ToolShed().tools(["write", "read"].map((name) => marking(name, folder, at))).tools(more);
  const shed = tools.pin(...tools.names());
  const builder = AgentSession.builder(provider)
    .withModel("m")
    .withToolshed(shed)
    .withDocStore(store)
    .withMemoryStore(new KvMemoryStore(storage))
    .withSessionId(sessionId);
  const close = async () => {
    await store.close();
    await storage.close();
  };
  return { builder, store, close };
}

/** A tool that leaves a mark on the disk for each run, in the middle of it. */
function marking(name: string, folder: string, at: AtMoment): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: { name, category: "test", description: "Marks.", arguments: { type: "object", properties: {} } },
    }),
    execute: async (_, ctx) => {
      await pause();
      await at("beforeEffect");
      appendFileSync(join(folder, "marks"), `${ctx.callId}\n`);
      await at("afterEffect");
      await pause();
      return ToolCallResult.text(`${name} is done`);
    },
  };
}

/** So that a kill can hit any moment. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
}

/** Eight steps with calls, then an answer. */
export function story(): ScriptedProvider {
  return new ScriptedProvider(async (_, index): Promise<ScriptedAnswer> => {
    await pause();
    if (index >= 8) return "That was all.";
    return ["Let me see. ", { call: "write" }, ...(index % 2 === 0 ? [{ call: "read" }, { call: "write" }] : [])];
  });
}
