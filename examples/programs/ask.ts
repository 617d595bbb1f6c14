// One question. Needs ANTHROPIC_API_KEY.
import { AgentSession } from "@shedkit/agent";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";

const agent = await AgentSession.builder(AnthropicMessagesProvider.fromEnv()).withModel("claude-sonnet-4-6").build();

const answer = await agent.ask(process.argv[2] ?? "Hi");
console.log(answer.intoResult()); // the text; throws what went wrong
await agent.end();
