import { isMet } from "../requirement.js";
import { allows, type CapabilityMode } from "./capability.js";
import type { ToolSetWarning } from "./types.js";
import type { PlannedTool } from "./validate.js";

/**
 * Leaves out what a mode does not allow, and then what cannot be without it: a tool whose requirements held before and
 * do not any more. Each is named, with the reason.
 */
export function prune(
  tools: readonly PlannedTool[],
  mode: CapabilityMode,
): { tools: readonly PlannedTool[]; warnings: readonly ToolSetWarning[] } {
  if (mode === "all") return { tools, warnings: [] };
  const warnings: ToolSetWarning[] = [];
  let left = tools.filter((tool) => {
    if (allows(mode, tool.metadata)) return true;
    warnings.push(pruned(tool, `"${mode}" does not allow tools of kind "${tool.kind}".`));
    return false;
  });
  const held = new Set(tools.filter((tool) => holds(tool, tools)));
  while (true) {
    const now = left;
    left = now.filter((tool) => {
      if (!held.has(tool) || holds(tool, now)) return true;
      warnings.push(pruned(tool, "It needs a tool that was left out."));
      return false;
    });
    if (left.length === now.length) return { tools: left, warnings };
  }
}

function holds(tool: PlannedTool, tools: readonly PlannedTool[]): boolean {
  return tool.metadata.requires === undefined || isMet(tool.metadata.requires, tools, tool.params);
}

function pruned(tool: PlannedTool, message: string): ToolSetWarning {
  return { tool: tool.id, category: "pruned", message };
}
