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

/** The session that is killed and the one that resumes it are the same, but for what the model says. */
export async function killable(
  { kind, folder, sessionId, server }: Place,
  provider: ScriptedProvider,
  more: readonly ToolImpl[] = [],
) {
  const { storage, store } = await openStore(kind, folder, server);
  const tools = new ToolShed().tools(["write", "read"].map((name) => marking(name, folder))).tools(more);
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
function marking(name: string, folder: string): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: { name, category: "test", description: "Marks.", arguments: { type: "object", properties: {} } },
    }),
    execute: async (_, ctx) => {
      await pause();
      appendFileSync(join(folder, "marks"), `${ctx.callId}\n`);
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
