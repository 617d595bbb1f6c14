/** Whether a rule is about a tool of an MCP server. */
export type ServerPattern = (tool: { server: string; tool: string }) => boolean;

/** `server`, `server__tool`, with `*` for anything. */
export function serverPattern(pattern: string): ServerPattern {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, "\\$&"));
  const whole = new RegExp(`^${parts.join("[\\s\\S]*")}$`, "u");
  return ({ server, tool }) => {
    const names = [server, `${server}__${tool}`];
    return names.some((name) => whole.test(name) || whole.test(name.replace(/[^\w-]/g, "_"))); // as clients declare them
  };
}
