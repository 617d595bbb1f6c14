import { ToolShed } from "@shedkit/shed";
import { FnTool, Resources } from "@shedkit/tool";
import { newSessionId } from "@shedkit/types";
import { McpServers, parseMcpServers } from "../../src/index.js";
import { type ServedShed, serveShed } from "../../src/server.js";

const greet = new FnTool("greet", "Greets.", { type: "object" }, async () => "hello from workerd");
let served: ServedShed | undefined;
let answer: ((request: Request) => Promise<Response>) | undefined;

export default {
  /** `/mcp` is a served shed; anything else calls a tool of the server that `?url=` names. */
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/mcp") {
      served ??= serveShed(new ToolShed().tool(greet));
      answer ??= served.http();
      return answer(request);
    }
    const settings = parseMcpServers({ mcpServers: { far: { url: searchParams.get("url") } } });
    await using servers = await McpServers.connect(settings);
    const manager = await new ToolShed().tools(servers.tools()).build({
      sessionId: newSessionId(),
      resources: new Resources(),
      context: { search: async () => [] },
      memory: { facts: async () => [], edit: async () => 0 },
    });
    const found = await manager.searchTools("say a text again");
    const call = { id: "1", name: "far__echo", arguments: { value: "across" } };
    for await (const outcome of manager.runCalls([call]))
      return Response.json({ found: found[0]?.name, said: outcome.promptText, status: servers.status() });
    return new Response(null, { status: 500 });
  },
};
