// Any model of OpenRouter's, with a tool of one's own; another of its models where that one fails. Needs OPENROUTER_API_KEY.
import { AgentSession } from "@shedkit/agent";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
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

const agent = await AgentSession.builder(OpenAIProvider.openrouterFromEnv())
  .withModel("anthropic/claude-sonnet-4.6")
  .withFallbackModels(["openai/gpt-4o"])
  .withToolshed(new ToolShed().tool(stock).pin("stock"))
  .build();

const answer = await agent.ask(process.argv[2] ?? "How many lamps do we have?");
console.log(answer.intoResult());
console.log(`${answer.usage.total} tokens`);
await agent.end();
