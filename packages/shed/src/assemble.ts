import { fullId, metadataOf, type ToolImpl } from "@shedkit/tool";
import {
  mergeConfigs,
  type ToolConfig,
  ToolSetBuilder,
  type ToolSetConfig,
  type ToolSetWarning,
} from "@shedkit/toolset";
import { toolName } from "@shedkit/types";
import { type ShedProblem, ToolShedError } from "./problems.js";

/**
 * Where tools come from: the program's own, those of `external` servers that it runs, those of a `remote` hub. Where two
 * have one name, the earlier in this order stays.
 */
export type ToolSource = "own" | "external" | "remote";

/** A tool that was made, and where it comes from. */
export interface SourcedTool {
  readonly tool: ToolImpl;
  readonly source: ToolSource;
}

/** The tools of a session, before they are made ready. */
export interface Assembly {
  readonly builder: ToolSetBuilder;
  readonly config: ToolSetConfig;
  /** What did not come in, and why. */
  readonly warnings: readonly ToolSetWarning[];
}

/**
 * Puts tools of all sources together as the configuration wants them: its entries, or else all own tools; then what others
 * give, unless its id or name is taken, or it may do more than the mode allows. Throws ToolShedError where own tools share an
 * id.
 */
export function assemble(tools: readonly SourcedTool[], config: ToolSetConfig): Assembly {
  const own = tools.filter(({ source }) => source === "own").map(({ tool }) => tool);
  const problems = sameIds(own);
  if (problems.length > 0) throw new ToolShedError(problems);
  if (own.length === tools.length) return { builder: new ToolSetBuilder().tools(own), config, warnings: [] };

  const byId = new Map(own.map((tool) => [idOf(tool), tool]));
  const wanted = config.tools.length > 0 ? config.tools : Array.from(byId.keys(), (id) => ({ id }));
  const isWanted = among(wanted);
  const warnings: ToolSetWarning[] = [];
  const entriesOf = (source: ToolSource): ToolConfig[] =>
    tools.flatMap((each) => {
      if (each.source !== source) return [];
      const id = idOf(each.tool);
      if (byId.has(id)) {
        const message = `It came from ${source}, and gives way to a tool of the same id.`;
        warnings.push({ tool: id, category: "shadowed", message });
        return [];
      }
      byId.set(id, each.tool);
      return isWanted(id) ? [] : [{ id }]; // the configuration says how it is wanted
    });
  const external = entriesOf("external");
  const merged = mergeConfigs(
    { baseline: { ...config, tools: wanted }, external, remote: entriesOf("remote") },
    (id) => {
      const tool = byId.get(id);
      return tool && metadataOf(tool);
    },
  );
  // Those that came in alone: of an empty configuration a builder would take all it has.
  const isIn = among(merged.config.tools);
  const builder = new ToolSetBuilder();
  for (const [id, tool] of byId) if (isIn(id)) builder.tool(tool);
  return { builder, config: merged.config, warnings: [...warnings, ...merged.warnings] };
}

/** Whether an entry names the tool of a full id: by it, or by its part after the namespace. */
function among(entries: readonly ToolConfig[]): (id: string) => boolean {
  const ids = new Set(entries.map(({ id }) => id));
  return (id) => ids.has(id) || ids.has(id.slice(id.indexOf(":") + 1));
}

function idOf(tool: ToolImpl): string {
  return fullId(metadataOf(tool));
}

/** Tools of one full id would replace each other. */
function sameIds(tools: readonly ToolImpl[]): ShedProblem[] {
  const names = new Map<string, string[]>();
  for (const tool of tools) {
    const id = idOf(tool);
    names.set(id, [...(names.get(id) ?? []), toolName(tool.definition())]);
  }
  return Array.from(names).flatMap(([id, same]): ShedProblem[] => {
    if (same.length === 1) return [];
    const message = `The tools ${same.map((name) => `"${name}"`).join(", ")} have this id. Ids must be unique.`;
    return [{ type: "configuration", tool: id, category: "duplicate_id", message }];
  });
}
