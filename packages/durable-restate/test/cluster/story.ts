import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import type { SqlDocumentStore } from "@shedkit/store";
import type { PostgresStorage } from "@shedkit/store-postgres";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { capabilitiesFor, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { stepOf } from "../support/step.js";

/** Calls of a whole story that leave a mark. */
export const MARKS = 6;

/** What every worker runs: a few steps with calls that leave marks on the disk, then an answer. */
export function storyAgent(store: SqlDocumentStore<PostgresStorage>, folder: string, version: string) {
  const provider = new ScriptedProvider(async (request): Promise<ScriptedAnswer> => {
    await pause();
    const step = stepOf(request);
    const said = JSON.stringify(request.messages);
    if (said.includes('"Faster"')) return `Fast, says ${version}.`;
    if (said.includes('"Pay"')) return step === 0 ? [{ call: "pay" }] : `Paid, says ${version}.`;
    if (said.includes('"Hold"')) return step === 0 ? [{ call: "hold" }] : `Held, says ${version}.`;
    if (step === 4) return `That was all, says ${version}.`;
    return ["Let me see. ", { call: "write" }, ...(step % 2 === 0 ? [{ call: "look" }, { call: "write" }] : [])];
  });
  const tools = [marking("write", folder, false), marking("look", folder, true), marking("pay", folder, false)];
  tools.push(holding(folder));
  const shed = new ToolShed().tools(tools);
  return AgentSession.builder(provider)
    .withModel("m")
    .withDocStore(store)
    .withPermissions({ decide: async ({ tool }) => (tool === "pay" ? "ask" : "allow") })
    .withToolshed(shed.pin(...shed.names()));
}

/** A tool that leaves a mark for each run, in the middle of it. */
function marking(name: string, folder: string, idempotent: boolean): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: { name, category: "test", description: "Marks.", arguments: { type: "object", properties: {} } },
    }),
    metadata: {
      ...{ id: name, namespace: "test", kind: "other" },
      capabilities: capabilitiesFor("other", { idempotent, readOnly: idempotent }),
    },
    execute: async (_, { sessionId, callId }) => {
      await pause();
      appendFileSync(join(folder, name), `${sessionId} ${callId}\n`);
      await pause();
      return ToolCallResult.text(`${name} is done`);
    },
  };
}

/** A tool that is not over before the file `go` is there. Its marks say which process runs it, and that it has ended. */
function holding(folder: string): ToolImpl {
  const { definition, ...tool } = marking("hold", folder, false);
  return {
    ...tool,
    definition,
    execute: async (_, { sessionId }) => {
      appendFileSync(join(folder, "hold"), `${sessionId} ${process.pid}\n`);
      while (!existsSync(join(folder, "go"))) await new Promise((resolve) => setTimeout(resolve, 5));
      appendFileSync(join(folder, "held"), `${sessionId} ${process.pid}\n`);
      return ToolCallResult.text("held");
    },
  };
}

/** So that a kill can hit any moment. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
}
