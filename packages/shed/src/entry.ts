import {
  isToolConstructor,
  type SessionParts,
  showValue,
  type ToolConstructor,
  type ToolImpl,
  toToolError,
} from "@shedkit/tool";
import { toolName } from "@shedkit/types";
import { type ShedProblem, ToolShedError } from "./problems.js";

/** What a shed is given. */
export type Entry = ToolImpl | ToolConstructor;

/** For programs that no compiler checked. */
export function noTool(got: unknown, wanted: string): ToolShedError {
  const form = "an object with definition() and execute(), or what toolFn() makes";
  return refused("tool", `A shed takes ${wanted} (${form}), and got ${showValue(got)}.`);
}

export function noSuchCount(got: unknown): ToolShedError {
  return refused("maxActive", `maxActive: wanted a number of at least 0, got ${showValue(got)}.`);
}

function refused(category: string, message: string): ToolShedError {
  return new ToolShedError([{ type: "configuration", tool: "(global)", category, message }]);
}

/** As far as can be seen without calling it. */
export function isTool(entry: unknown): entry is ToolImpl {
  return typeof entry === "object" && entry !== null && "definition" in entry && typeof entry.definition === "function";
}

/** Known before anything is made. Throws ToolShedError for what is no tool. */
export function nameOf(entry: Entry): string {
  if (typeof entry !== "object" || entry === null || !(isToolConstructor(entry) || isTool(entry)))
    throw noTool(entry, "tools and constructors of tools");
  return isToolConstructor(entry) ? entry.name : toolName(entry.definition());
}

/** The tool; undefined, and a problem, where none came of it. */
export async function construct(
  entry: ToolConstructor,
  parts: SessionParts,
  problems: ShedProblem[],
): Promise<ToolImpl | undefined> {
  let message: string;
  try {
    const made: unknown = await entry.construct(parts);
    if (isTool(made)) return made;
    message = `The constructor made no tool, but gave ${showValue(made)}.`;
  } catch (fault) {
    message = `The constructor failed: ${toToolError(fault, entry.name).message}`;
  }
  problems.push({ type: "configuration", tool: entry.name, category: "construct", message });
  return undefined;
}
