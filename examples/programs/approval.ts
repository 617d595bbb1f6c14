// A person decides about each call that changes something. Needs OPENAI_API_KEY.
import { createInterface } from "node:readline/promises";
import { AgentSession } from "@shedkit/agent";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ToolShed } from "@shedkit/shed";
import { defineTool } from "@shedkit/tool";
import { Type } from "@sinclair/typebox";

const discard = defineTool({
  id: "discard",
  kind: "edit",
  description: "Discards a draft.",
  input: Type.Object({ draft: Type.String() }),
  run: ({ draft }) => `${draft} is gone.`,
});

const agent = await AgentSession.builder(OpenAIProvider.fromEnv())
  .withModel("gpt-4o")
  .withToolshed(new ToolShed().tool(discard).pin("discard"))
  .withPermissions({ decide: async ({ capabilities }) => (capabilities.readOnly ? "allow" : "ask") })
  .build();

const terminal = createInterface({ input: process.stdin, output: process.stdout });
for await (const event of agent.runTurnStream("Discard the draft 'spring'.").events()) {
  if (event.type === "text") process.stdout.write(event.delta);
  else if (event.type === "failed") throw event.error;
  else if (event.type === "approvalRequested") {
    const said = await terminal.question(`May ${event.name} run with ${JSON.stringify(event.arguments)}? [y/N] `);
    const decision = said === "y" ? ({ type: "allow", scope: "once" } as const) : ({ type: "deny" } as const);
    await agent.approve(event.approvalId, decision);
  }
}
terminal.close();
await agent.end();
