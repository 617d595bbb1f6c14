import { ToolCallResult, type ToolImpl } from "@shedkit/tool";
import type { Connection } from "./connection.js";
import { type McpResource, resourceContent } from "./content.js";
import { declareTool } from "./declare.js";
import { oneLine } from "./text.js";

const MAX_LISTED = 200;

/** Lists what a server has to read, and reads it. */
export function resourcesTool(declared: string, connection: Connection): ToolImpl {
  const { name, timeoutMs, trustAnnotations } = connection.settings;
  return declareTool(connection, {
    declared,
    name: "resources",
    description: `Reads a resource of the MCP server "${name}" (a document, a file, a record), or lists what there is.`,
    input: {
      type: "object",
      properties: { uri: { type: "string", description: "Which one to read. Left out: lists them." } },
      additionalProperties: false,
    },
    // Reading is what the protocol has this for; what a server does is another thing.
    capabilities: { readOnly: trustAnnotations, destructive: false, timeoutMs },
    async execute({ uri }, { names, signal }) {
      return typeof uri === "string" ? read(connection, uri, names.tool, signal) : list(connection, names.tool, signal);
    },
  });
}

async function read(connection: Connection, uri: string, tool: string, signal: AbortSignal): Promise<ToolCallResult> {
  const { contents } = await connection.request(tool, signal, (client, options) =>
    client.readResource({ uri }, options),
  );
  return new ToolCallResult(resourceContent(contents as readonly McpResource[]));
}

async function list(connection: Connection, tool: string, signal: AbortSignal): Promise<ToolCallResult> {
  const resources = await connection.request(tool, signal, async (client, options) => {
    const [plain, templates] = await Promise.all([
      client.listResources(undefined, options),
      client.listResourceTemplates(undefined, options).catch(() => ({ resourceTemplates: [] })),
    ]);
    const patterns = templates.resourceTemplates.map((each) => ({ ...each, uri: each.uriTemplate }));
    return [...plain.resources, ...patterns];
  });
  if (resources.length === 0) return ToolCallResult.text("The server has no resources now.");
  const lines = resources.slice(0, MAX_LISTED).map(({ uri, name, description }) => {
    const about = description === undefined ? "" : ` - ${oneLine(description, 300)}`;
    return `- ${oneLine(uri, 2000)}: ${oneLine(name, 200)}${about}`;
  });
  const more = resources.length - lines.length;
  return ToolCallResult.text([...lines, ...(more > 0 ? [`[${more} more]`] : [])].join("\n"));
}
