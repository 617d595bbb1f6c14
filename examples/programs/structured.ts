// An answer as a value of a schema, checked. Needs OPENAI_API_KEY.
import { AgentSession } from "@shedkit/agent";
import { ResponsesProvider } from "@shedkit/provider-openai-responses";
import { Type } from "@sinclair/typebox";

const Invoice = Type.Object({
  customer: Type.String(),
  total: Type.Number({ description: "In euros." }),
  due: Type.Optional(Type.String({ description: "YYYY-MM-DD" })),
});

const agent = await AgentSession.builder(ResponsesProvider.fromEnv()).withModel("gpt-5.4").build();
const answer = await agent.ask("Read this: Ada Lovelace owes us EUR 12.50.", { output: Invoice });
if (answer.type === "failed") throw answer.error;

const { customer, total, due } = answer.value; // typed by the schema
console.log(`${customer}: ${total.toFixed(2)} (due ${due ?? "at once"})`);
await agent.end();
