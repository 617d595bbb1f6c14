// What every worker and every client of the cluster knows: the agent.
import process from "node:process";
import { AgentSession } from "@shedkit/agent";
import { durable } from "@shedkit/durable-restate";
import type { ModelProvider } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { SqlDocumentStore } from "@shedkit/store";
import { PostgresStorage } from "@shedkit/store-postgres";
import { FnTool } from "@shedkit/tool";
import { textOfContent } from "@shedkit/types";

/** Stands for a model, so that the example needs no key: it looks, then says what it saw. Put a preset here. */
const standIn: ModelProvider = {
  id: "stand-in",
  serves: () => "yes",
  async *stream({ messages }) {
    const asked = messages.findLastIndex((message) => message.type === "user");
    const times = Number(/Look (\d+) times/.exec(JSON.stringify(messages[asked]))?.[1] ?? 1);
    const results = messages.slice(asked).flatMap((message) => (message.type === "toolResult" ? [message] : []));
    yield { type: "start", warnings: [] };
    if (results.length >= times) {
      const seen = textOfContent(results.at(-1)?.content ?? []);
      yield { type: "output", block: 0, output: { type: "text", text: `It is ${seen}.` } };
      yield { type: "finish", reason: "stop" };
    } else {
      yield { type: "output", block: 0, output: { type: "toolCall", id: "", name: "worker", arguments: {} } };
      yield { type: "finish", reason: "toolUse" };
    }
  },
};

const worker = new FnTool(
  "worker",
  "Says which worker runs this.",
  { type: "object", properties: {} },
  async () => `worker ${process.env.WORKER ?? "?"}`,
);

export async function openAgent(database: string) {
  const storage = await PostgresStorage.open(database);
  const builder = AgentSession.builder(standIn)
    .withModel("stand-in")
    .withLoopDetection("off") // the stand-in goes round in circles where it is told to
    .withToolshed(new ToolShed().tool(worker).pin("worker"))
    .withDocStore(new SqlDocumentStore(storage));
  return { agent: durable({ name: "example", agent: builder }), builder, close: () => storage.close() };
}
