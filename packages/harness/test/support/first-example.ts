// The first example in a process of its own, which the tests kill. Arguments: the project's folder. The hub and the
// cache are what the environment says; parts are small, so that there are many of them.
import { NodeFileSystem } from "@shedkit/fs/node";
import { hubSettingsFromEnv } from "@shedkit/gguf";
import { ToolShed } from "@shedkit/shed";
import { RouterPreset, ToolPreset } from "../../src/index.js";

const transfer = { partBytes: 64 * 1024, connections: 2, retryDelayMs: 1 };
const say = (event: object) => console.log(JSON.stringify(event));

const agent = await RouterPreset.huggingfaceCpu("unsloth/gemma-4-E2B-it-GGUF", {
  hub: { ...hubSettingsFromEnv(), transfer },
  threads: 1,
})
  .intoAgentBuilder()
  .withToolshed(new ToolShed().tools(ToolPreset.files(new NodeFileSystem(process.argv[2] ?? "."))))
  .build();
const stream = agent.runTurnStream("What is the version in package.json?");
for await (const event of stream.events()) {
  if (event.type !== "progress" || event.progress.type !== "loadingModel") continue;
  say({ type: event.progress.what, bytesDone: event.progress.bytesDone });
}
say({ type: "answer", text: (await stream.done()).text });
await agent.end();
