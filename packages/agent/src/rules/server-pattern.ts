import { fitsStars } from "./stars.js";

/** Whether a rule is about a tool of an MCP server. */
export type ServerPattern = (tool: { server: string; tool: string }) => boolean;

/** `server`, `server__tool`, with `*` for anything. */
export function serverPattern(pattern: string): ServerPattern {
  return ({ server, tool }) =>
    [server, `${server}__${tool}`]
      .flatMap((name) => [name, name.replace(/[^\w-]/g, "_")]) // as clients declare them
      .some((name) => fitsStars(pattern, name));
}
