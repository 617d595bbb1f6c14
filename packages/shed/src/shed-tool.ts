import { ToolCallResult, type ToolContext, type ToolImpl } from "@shedkit/tool";
import type { JsonSchema, JsonValue, Tool, ToolArguments } from "@shedkit/types";
import type { ToolHit } from "./types.js";

/** The name of the tool that looks tools up. No other tool may have it. */
export const SHED_NAME = "shed";
const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;

const SHED_ARGUMENTS: JsonSchema = {
  type: "object",
  properties: {
    description: { type: "string", description: "What you want to do, or the name of a tool." },
    limit: {
      type: "integer",
      minimum: 1,
      description: `How many tools to return at most, up to ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}.`,
    },
  },
  required: ["description"],
  additionalProperties: false,
};

/** What the model is told of `shed`. */
export const SHED_TOOL: Tool = definitionOf("can be called from then on");

/** Likewise, where what it finds is called by `use_tool`. */
export const SHED_TOOL_BY_NAME: Tool = definitionOf("are called by use_tool");

function definitionOf(returned: string): Tool {
  const what = "Looks up the tools that can do something. Describe what you want to do; the tools it returns";
  return {
    type: "single",
    definition: {
      name: SHED_NAME,
      category: "shed",
      description: `${what} ${returned}.`,
      arguments: SHED_ARGUMENTS,
    },
  };
}

/** What `shed` needs of the session. */
export interface ShedHost {
  /** The tools that fit and may be listed, best first. */
  find(description: string, limit: number, ctx: ToolContext): Promise<readonly ToolHit[]>;
  /** Every tool that may be listed. */
  catalog(ctx: ToolContext): Promise<readonly { name: string; category: string }[]>;
  activate(names: readonly string[], toolCallId: string): void;
  /** Whether tools that are not declared are called by `use_tool`; then none is activated. */
  readonly byName: boolean;
  isDeclared(name: string): boolean;
}

/** The tool that looks tools up and activates what it finds. */
export function shedTool(host: ShedHost): ToolImpl {
  return {
    definition: () => (host.byName ? SHED_TOOL_BY_NAME : SHED_TOOL),
    async execute({ description, limit }: ToolArguments, ctx: ToolContext): Promise<ToolCallResult> {
      const count = typeof limit === "number" ? Math.min(limit, MAX_LIMIT) : DEFAULT_LIMIT;
      const hits = await host.find(String(description), count, ctx);
      if (hits.length === 0) return ToolCallResult.text(catalogText(await host.catalog(ctx)));
      const names = hits.map(({ name }) => name);
      if (!host.byName) host.activate(names, ctx.callId);
      const tools = hits.map(({ name, category, description, arguments: schema }) => ({
        name,
        category,
        description,
        arguments: schema as JsonValue,
      }));
      return new ToolCallResult(
        [{ type: "text", text: hitsText(hits) + (host.byName ? howToCall(names, host) : "") }],
        { output: { tools } },
      );
    },
  };
}

/** What the model reads: a line a tool, followed by the schema of its arguments. */
function hitsText(hits: readonly ToolHit[]): string {
  return hits
    .map((hit) => `${signature(hit)}: ${oneLine(hit.description)}\n${JSON.stringify(hit.arguments)}`)
    .join("\n");
}

/** What the model reads after them, where they are not declared now. */
function howToCall(names: readonly string[], host: ShedHost): string {
  const declared = names.filter((name) => host.isDeclared(name));
  const [first] = names.filter((name) => !host.isDeclared(name));
  const direct = declared.length === 0 ? "" : `\nCall ${declared.join(", ")} directly.`;
  if (first === undefined) return direct;
  return `${direct}\nCall ${declared.length === 0 ? "them" : "the others"} by use_tool: {"tool_name": "${first}", "tool_input": {...}}`;
}

/** What the model reads when nothing was found: every category with its tools. */
function catalogText(tools: readonly { name: string; category: string }[]): string {
  const byCategory = new Map<string, string[]>();
  for (const { name, category } of tools) {
    const names = byCategory.get(category);
    if (names) names.push(name);
    else byCategory.set(category, [name]);
  }
  const lines = Array.from(byCategory, ([category, names]) => `- ${category}: ${names.join(", ")}`);
  return ["No tool matches. These are there; look one up by its name:", ...lines].join("\n");
}

function signature(hit: ToolHit): string {
  const { properties = {}, required = [] } = hit.arguments as { properties?: object; required?: readonly string[] };
  const params = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
  return `- ${hit.name}(${params.join(", ")})`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
