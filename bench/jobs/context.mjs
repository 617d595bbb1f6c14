// What a worker of context-cost.mjs does: one task with one peer.
import { peerModule } from "../lib/peers.mjs";

const SYSTEM =
  "You are the assistant of a research group. You do what you are asked, one thing after the other, with the tools that you " +
  "have. Say shortly what you are about to do before each call. Take the values from the request; where one is missing, take " +
  "a sensible one and say so. When everything is done, say what came out, in one sentence for each thing, without Markdown. " +
  "Never invent a result: where a tool fails, say that it failed and go on with the next thing.";

export async function run({ peer, wire, url, model, task, options }) {
  const { open } = await import(peerModule(peer));
  let runs = 0;
  const tools = task.tools.map((tool) => ({
    ...tool,
    run: () =>
      `{"status":"ok","result":{"value":${++runs * 17},"unit":"units","note":"computed from the given values"}}`,
  }));
  const agent = await open({ wire, url, model, tools, steps: 60, system: SYSTEM, ...options });
  const conversation = await agent.converse();
  const asked = task.steps.map(({ query }, i) => `${i + 1}. ${query}`).join("\n");
  await conversation.ask(`Please do the following, one after the other:\n${asked}`);
  await conversation.end();
  return { runs };
}
