// Claude, and where it fails a model of OpenAI's: the conversation goes on there.
// Needs ANTHROPIC_API_KEY and OPENAI_API_KEY. To a model on this machine: local.ts.
import { RouterMix } from "@shedkit/harness";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";

const agent = await new RouterMix()
  .primary(() => AnthropicMessagesProvider.fromEnv(), "claude-sonnet-4-6")
  .fallback(() => OpenAIProvider.fromEnv(), "gpt-4o")
  .build()
  .intoAgentBuilder()
  .build();

for (const question of ["My name is Ada.", "What is my name?"]) {
  const turn = await agent.runTurn(question);
  if (turn.failure) throw turn.failure;
  console.log(turn.text);
}
await agent.end();
