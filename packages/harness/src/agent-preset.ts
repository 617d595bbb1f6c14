import { type ToolConstructor, type ToolImpl, toolFn } from "@shedkit/tool";
import { optionalPeer } from "./optional-peer.js";

/** What sub-agents are like, as `@shedkit/tools-agent` describes it. */
export interface AgentPresetOptions {
  /** Their tools: another preset, or any that a shed takes. Default: what the session gives its children. */
  childTools?: Iterable<ToolImpl | ToolConstructor> | undefined;
  /** The most steps that one makes. Default: 50. */
  maxSteps?: number | undefined;
}

/** `agent` over what the session may start, as a constructor that imports its package. */
export function agentTools({ childTools, maxSteps }: AgentPresetOptions): ToolConstructor[] {
  const name = "@shedkit/tools-agent";
  return [
    toolFn("agent", async (parts) => {
      const { sessionAgentTool } = await optionalPeer(name, () => import("@shedkit/tools-agent"));
      return sessionAgentTool({ tools: childTools, maxSteps }).construct(parts);
    }),
  ];
}
