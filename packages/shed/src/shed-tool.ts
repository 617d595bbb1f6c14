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
export const SHED_TOOL: Tool = {
  type: "single",
  definition: {
    name: SHED_NAME,
    category: "shed",
    description:
      "Looks up the tools that can do something. Describe what you want to do; the tools it returns can be called from then on.",
    arguments: SHED_ARGUMENTS,
  },
};

/** What `shed` needs of the session. */
export interface ShedHost {
  /** The tools that fit and may be listed, best first. */
  find(description: string, limit: number, ctx: ToolContext): Promise<readonly ToolHit[]>;
  /** Every tool that may be listed. */
  catalog(ctx: ToolContext): Promise<readonly { name: string; category: string }[]>;
  activate(names: readonly string[], toolCallId: string): void;
}

/** The tool that looks tools up and activates what it finds. */
export function shedTool(host: ShedHost): ToolImpl {
  return {
    definition: () => SHED_TOOL,
    async execute({ description, limit }: ToolArguments, ctx: ToolContext): Promise<ToolCallResult> {
      const count = typeof limit === "number" ? Math.min(limit, MAX_LIMIT) : DEFAULT_LIMIT;
      const hits = await host.find(String(description), count, ctx);
      if (hits.length === 0) return ToolCallResult.text(catalogText(await host.catalog(ctx)));
      host.activate(
        hits.map(({ name }) => name),
        ctx.callId,
      );
      const tools = hits.map(({ name, category, description, arguments: schema }) => ({
        name,
        category,
        description,
        arguments: schema as JsonValue,
      }));
      return new ToolCallResult([{ type: "text", text: hitsText(hits) }], { output: { tools } });
    },
  };
}

/** What the model reads: a line a tool, followed by the schema of its arguments. */
function hitsText(hits: readonly ToolHit[]): string {
  return hits
    .map((hit) => `${signature(hit)}: ${oneLine(hit.description)}\n${JSON.stringify(hit.arguments)}`)
    .join("\n");
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
