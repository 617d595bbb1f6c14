import { type CapabilityHints, capabilitiesFor, ToolCallResult, ToolError, type ToolImpl } from "@shedkit/tool";
import type { ContentPart, JsonSchema, JsonValue, Tool, ToolArguments } from "@shedkit/types";

/** Stands between a server's name and its tool's; no other tool's name has it. */
const EXTERNAL_SEPARATOR = "__";

/** A tool that lives elsewhere: JSON in, JSON out. */
export interface ExternalToolSpec {
  /** The server, as the user calls it. */
  server: string;
  /** The tool, as the server calls it. */
  name: string;
  description: string;
  /** Default: an object of anything. */
  input?: JsonSchema | undefined;
  output?: JsonSchema | undefined;
  capabilities?: CapabilityHints | undefined;
  call(args: ToolArguments, signal: AbortSignal): Promise<ExternalResult>;
}

/** What came of a call elsewhere. */
export interface ExternalResult {
  content: readonly ContentPart[];
  output?: JsonValue | undefined;
  errorDetail?: string | undefined;
}

/** What is declared under `server__tool`: letters, digits, `_` and `-`, 64 at most, as wires want it. */
export function externalName(server: string, name: string): string {
  const clean = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, "_");
  const whole = `${clean(server).replace(/_{2,}/g, "_")}${EXTERNAL_SEPARATOR}${clean(name)}`;
  if (whole.length <= MAX_NAME) return whole;
  const mark = hash(`${server} ${name}`);
  return `${whole.slice(0, MAX_NAME - mark.length - 1)}_${mark}`;
}

const MAX_NAME = 64;

/** Keeps long names apart that begin alike. FNV-1a. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(36);
}

/** Whether a tool is declared under a server's name, as {@link externalName} makes it. */
export function isExternalName(name: string): boolean {
  return name.includes(EXTERNAL_SEPARATOR);
}

/** A tool from elsewhere as one of ours: kind `other`, its schemas read under limits. */
export function externalTool(spec: ExternalToolSpec): ToolImpl {
  const name = externalName(spec.server, spec.name);
  const definition: Tool = {
    type: "single",
    definition: {
      name,
      category: spec.server,
      description: spec.description,
      arguments: spec.input ?? { type: "object" },
      ...(spec.output === undefined ? {} : { returns: spec.output }),
    },
  };
  return {
    metadata: {
      id: name,
      namespace: "external",
      kind: "other",
      capabilities: capabilitiesFor("other", { maxResultBytes: MAX_RESULT_BYTES, ...spec.capabilities }),
      foreign: true,
    },
    definition: () => definition,
    async execute(args, ctx) {
      const { content, output, errorDetail } = await spec.call(args, ctx.signal);
      if (!Array.isArray(content))
        throw new ToolError("execution", name, `${spec.server} answered ${spec.name} with no content.`);
      return new ToolCallResult(content, { output, errorDetail });
    },
  };
}

const MAX_RESULT_BYTES = 20_000;
