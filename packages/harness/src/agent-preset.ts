import type { ToolConstructor, ToolImpl } from "@shedkit/tool";
import { lazyReminder } from "./lazy-reminder.js";
import { optionalPeer } from "./optional-peer.js";

/** What sub-agents are like, as `@shedkit/tools-agent` describes it. */
export interface AgentPresetOptions {
  /** Their tools: another preset, or any that a shed takes. Default: what the session gives its children. */
  childTools?: Iterable<ToolImpl | ToolConstructor> | undefined;
  /** The most steps that one makes. Default: 50. */
  maxSteps?: number | undefined;
  /** Their model, where the call names none. Default: the session's. */
  model?: string | undefined;
}

/** `agent` over what the session may start, as a constructor that imports its package and brings its reminder. */
export function agentTools({ childTools, maxSteps, model }: AgentPresetOptions): ToolConstructor[] {
  const tools = () => optionalPeer("@shedkit/tools-agent", () => import("@shedkit/tools-agent"));
  return [
    {
      name: "agent",
      needsSession: true,
      reminders: [lazyReminder({ id: "agents-ended" }, async () => (await tools()).agentReminder())],
      construct: async (parts) =>
        (await tools()).sessionAgentTool({ tools: childTools, maxSteps, model }).construct(parts),
    },
  ];
}
