import type { CompiledTool } from "../schema/compile.js";
import { refusalText } from "./refused-parameter.js";

/** The most characters that a server says, with 400 or 422, the description of a tool may have. */
export function descriptionLimit(error: unknown): number | undefined {
  const text = refusalText(error);
  const [, most] = /description\b.*?too long.*?max\w* length (?:of )?(\d+)/is.exec(text ?? "") ?? [];
  return most === undefined || Number(most) === 0 ? undefined : Number(most);
}

/** The tools with descriptions that are no longer than a server takes: the rest stands in those of their arguments. */
export function withShortDescriptions<T extends CompiledTool>(tools: readonly T[], most: number | undefined): T[] {
  return tools.map((tool) => {
    const { description, parameters } = tool;
    if (most === undefined || description.length <= most) return tool;
    const space = Math.max(description.lastIndexOf(" ", most), description.lastIndexOf("\n", most));
    const at = space > 0 ? space : most;
    const own = (parameters as { description?: unknown }).description;
    const rest = [description.slice(at).trim(), ...(typeof own === "string" ? [own] : [])].join("\n\n");
    return { ...tool, description: description.slice(0, at), parameters: { ...parameters, description: rest } };
  });
}
