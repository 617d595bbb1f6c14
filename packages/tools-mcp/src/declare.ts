import type { AccessRequest, ToolCapabilities, ToolImpl } from "@shedkit/tool";
import { externalTool } from "@shedkit/toolset";
import type { JsonSchema } from "@shedkit/types";
import type { Connection } from "./connection.js";

/** What is told of a server's tool. */
export interface DeclaredTool {
  /** What it is declared by. */
  declared: string;
  /** What the server calls it. */
  name: string;
  description: string;
  input: JsonSchema;
  output?: JsonSchema | undefined;
  capabilities: Partial<ToolCapabilities>;
  shouldList?(): boolean;
  execute: ToolImpl["execute"];
}

/** A server's tool as an external tool that shows progress, and says what it will access. */
export function declareTool({ settings }: Connection, spec: DeclaredTool): ToolImpl {
  const { declared, execute, shouldList, ...told } = spec;
  const { metadata, definition } = externalTool({
    ...told,
    server: settings.name,
    call: () => Promise.reject(new Error("not called")), // `execute` takes its place
  });
  const tool = definition();
  const named = tool.type === "single" ? { ...tool, definition: { ...tool.definition, name: declared } } : tool;
  const access = accessOf(settings, spec.name, spec.capabilities.readOnly === true);
  return {
    definition: () => named,
    metadata: {
      ...(metadata as NonNullable<typeof metadata>),
      id: declared,
      ...(shouldList && { shouldList }),
      access: () => [access],
    },
    execute,
  };
}

/** What a person is asked about: a process may do anything; another machine is one that data goes to. */
function accessOf({ name, reach }: Connection["settings"], tool: string, readOnly: boolean): AccessRequest {
  const detail = { mcpServer: name, tool };
  if (reach.type === "http") return { action: "network", target: new URL(reach.url).host, detail };
  return { action: readOnly ? "read" : "execute", target: `${name}/${tool}`, detail };
}
