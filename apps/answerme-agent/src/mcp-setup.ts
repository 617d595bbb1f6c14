import type { Mcp, McpLine } from "./mcp.js";
import type { LeaveOptions } from "./mcp-leave.js";
import type { Renderer } from "./renderer.js";
import type { Settings, Sourced } from "./settings.js";

/** The MCP servers of the settings; undefined where there are none. Nothing is started by this. */
export async function mcpFor({ mcpServers }: Sourced<Settings>, leave: LeaveOptions): Promise<Mcp | undefined> {
  const entries = mcpServers.value;
  if (entries.length === 0) return undefined;
  const [{ Mcp }, { allowedServers }] = await Promise.all([import("./mcp.js"), import("./mcp-leave.js")]);
  const { root, notes } = leave;
  return new Mcp({ entries, root, env: process.env, allowed: await allowedServers(entries, leave), notes });
}

/** Says which servers do not work. */
export function tellProblems(lines: readonly McpLine[] = [], renderer: Renderer): void {
  for (const { name, text, isProblem } of lines) if (isProblem) renderer.notice(`MCP server ${name}: ${text}`);
}
