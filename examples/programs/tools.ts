// A tool of one's own, and a stream. The model finds the tool with `shed`. Needs ANTHROPIC_API_KEY.
import { AgentSession } from "@shedkit/agent";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { ToolShed } from "@shedkit/shed";
import { defineTool } from "@shedkit/tool";
import { Type } from "@sinclair/typebox";

const stock = defineTool({
  id: "stock",
  kind: "read",
  description: "Says how many pieces of an article are in stock.",
  input: Type.Object({ article: Type.String() }),
  run: ({ article }) => ({ pieces: article.length * 7 }),
});

const agent = await AgentSession.builder(AnthropicMessagesProvider.fromEnv())
  .withModel("claude-sonnet-4-6")
  .withToolshed(new ToolShed().tool(stock))
  .build();

for await (const event of agent.runTurnStream("How many lamps do we have?").events()) {
  if (event.type === "text") process.stdout.write(event.delta);
  else if (event.type === "retract") process.stdout.write("\n(once more)\n");
  else if (event.type === "toolCall") console.log(`-> ${event.name} ${JSON.stringify(event.arguments)}`);
  else if (event.type === "done") console.log(`\n${event.summary.usage.total} tokens`);
  else if (event.type === "failed") throw event.error;
}
await agent.end();
