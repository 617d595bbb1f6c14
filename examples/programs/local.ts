// Claude, and where it cannot be reached a model on this machine, which goes on with the conversation.
// Needs ANTHROPIC_API_KEY. The local model is the demonstration of 2 MB that ships with Shedkit, and looks up values in
// files; LOCAL_MODEL names another: a .gguf file, or a repository such as unsloth/gemma-4-E2B-it-GGUF.
import { NodeFileSystem } from "@shedkit/fs/node";
import { ggufProvider, RouterMix, ToolPreset } from "@shedkit/harness";
import { demoModelPath } from "@shedkit/model-demo";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { ToolShed } from "@shedkit/shed";

const fs = new NodeFileSystem(process.argv[2] ?? ".");
const agent = await new RouterMix()
  .primary(() => AnthropicMessagesProvider.fromEnv(), "claude-sonnet-4-6")
  .fallback(() => ggufProvider(), process.env.LOCAL_MODEL ?? demoModelPath, {
    params: { temperature: 0, maxTokens: 200 },
  })
  .build()
  .intoAgentBuilder()
  .withToolshed(new ToolShed().tools(ToolPreset.files(fs).merge(ToolPreset.searchFiles(fs))))
  .build();

const turn = await agent.runTurn("What is the port in config.ini?");
for (const record of turn.records) if (record.type === "modelSwitched") console.log(`-> ${record.to}`);
if (turn.failure) throw turn.failure;
console.log(turn.text);
await agent.end();
