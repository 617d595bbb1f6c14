import type { JsonSchema, Tool } from "@shedkit/types";
import type { ToolHit } from "./types.js";

/** The name of the tool that looks tools up. No other tool may have it. */
export const SHED_NAME = "shed";
export const DEFAULT_LIMIT = 5;
export const MAX_LIMIT = 20;

const SHED_ARGUMENTS: JsonSchema = {
  type: "object",
  properties: {
    description: { type: "string", minLength: 1, description: "What you want to do, or the name of a tool." },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `How many tools to return at most. Default: ${DEFAULT_LIMIT}.`,
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

/** What the model reads: a line a tool, followed by the schema of its arguments. */
export function hitsText(hits: readonly ToolHit[]): string {
  return hits
    .map((hit) => `${signature(hit)}: ${oneLine(hit.description)}\n${JSON.stringify(hit.arguments)}`)
    .join("\n");
}

/** What the model reads when nothing was found: every category with its tools. */
export function catalogText(tools: readonly { name: string; category: string }[]): string {
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
