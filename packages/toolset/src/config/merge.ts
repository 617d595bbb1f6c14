import { allows, type CapabilityClaims } from "./capability.js";
import type { ToolConfig, ToolSetConfig, ToolSetWarning } from "./types.js";

/** The configurations to merge, the stronger ones first. */
export interface MergeSources {
  /** The session's own; it wins. */
  baseline: ToolSetConfig;
  /** Of local servers; they give way to the baseline. */
  external?: readonly ToolConfig[] | undefined;
  /** Of a remote hub; they give way to both. */
  remote?: readonly ToolConfig[] | undefined;
}

/** One configuration, made of several. */
export interface MergedConfig {
  config: ToolSetConfig;
  /** What did not come in, and whom it gave way to. */
  warnings: readonly ToolSetWarning[];
}

/**
 * One configuration from several: baseline before external before remote. An entry whose id or client name is taken
 * does not come in; nor does one from elsewhere that the mode does not allow (without a kind: in `all` alone). `known`
 * gives what the registered tools say of themselves.
 */
export function mergeConfigs(
  { baseline, external = [], remote = [] }: MergeSources,
  known: (id: string) => ({ readonly id: string } & CapabilityClaims) | undefined,
): MergedConfig {
  const warnings: ToolSetWarning[] = [];
  const owners = new Map<string, string>();
  const tools: ToolConfig[] = [];
  const mode = baseline.capability ?? "all";
  const add = (entry: ToolConfig, source: string): void => {
    const own = known(entry.id);
    const filled = entry.kind === undefined && own !== undefined ? { ...entry, kind: own.kind } : entry;
    const keys = [`id ${entry.id}`, `name ${entry.nameOverride ?? own?.id ?? unqualified(entry.id)}`];
    const owner = keys.map((key) => owners.get(key)).find((taken) => taken !== undefined);
    if (source !== "baseline") {
      if (owner !== undefined) {
        const message = `It came from ${source}, and gives way to ${owner}.`;
        warnings.push({ tool: entry.id, category: "shadowed", message });
        return;
      }
      if (!allows(mode, { kind: filled.kind ?? "other", capabilities: own?.capabilities })) {
        const message = `It came from ${source}, and "${mode}" does not allow tools of kind "${filled.kind ?? "other"}".`;
        warnings.push({ tool: entry.id, category: "pruned", message });
        return;
      }
    }
    tools.push(filled);
    for (const key of keys) if (!owners.has(key)) owners.set(key, `"${entry.id}" of ${source}`);
  };
  for (const entry of baseline.tools) add(entry, "baseline");
  for (const entry of external) add(entry, "external");
  for (const entry of remote) add(entry, "remote");
  return { config: { ...baseline, tools }, warnings };
}

function unqualified(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}
