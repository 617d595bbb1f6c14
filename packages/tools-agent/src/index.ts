export { agentReminder, agentTool, sessionAgentTool } from "./agent-tool.js";
export { AGENT_ENDED, AGENT_PROGRESS, type AgentToolOptions } from "./fleet.js";
