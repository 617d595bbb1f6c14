import { activationAnchors } from "@shedkit/provider/adapter";
import type { CompiledTool, ToolCompiler } from "@shedkit/provider/schema";
import { type Message, type ToolDeclarations, toolName } from "@shedkit/types";
import type { Block } from "./content.js";

/** The tools of a request, and where they are revealed. */
export interface WireTools {
  tools: Block[];
  compiled: readonly CompiledTool[];
  /** Names, as on the wire, of the tools that the result of a call reveals. */
  reveals(toolCallId: string): readonly string[];
}

/**
 * A deferred tool that stands in every request from the first: without one the first activation would change what is
 * cached of the beginning.
 */
const PLACEHOLDER: Block = {
  name: "shed_placeholder",
  description: "Holds a place. It is never shown and must not be called.",
  input_schema: { type: "object", properties: {} },
  defer_loading: true,
};

/**
 * Declares the tools. With deferral, an active tool is declared without being shown, and shown by a reference in the
 * result that activated it: nothing of what is cached changes. A tool whose result is no longer in the transcript (it
 * was compacted away) is declared openly.
 */
export function wireTools(
  declarations: ToolDeclarations,
  transcript: readonly Message[],
  compiler: ToolCompiler,
  deferral: boolean,
): WireTools {
  const shed = declarations.shed && compiler.compile(declarations.shed);
  const active = declarations.tools.map((tool) => compiler.compile(tool));
  const compiled = [...(shed ? [shed] : []), ...active];
  if (shed === undefined || !deferral) return { tools: compiled.map(plainTool), compiled, reveals: () => [] };

  const anchors = activationAnchors(declarations, transcript);
  const reveals = new Map<string, string[]>();
  const open: Block[] = [plainTool(shed)];
  const hidden: Block[] = [PLACEHOLDER];
  for (const [i, tool] of active.entries()) {
    const declared = declarations.tools[i];
    const anchor = declared === undefined ? undefined : anchors.get(toolName(declared));
    if (anchor === undefined) {
      open.push(plainTool(tool));
      continue;
    }
    hidden.push({ ...plainTool(tool), defer_loading: true });
    reveals.set(anchor, [...(reveals.get(anchor) ?? []), tool.wireName]);
  }
  return { tools: [...open, ...hidden], compiled, reveals: (id) => reveals.get(id) ?? [] };
}

function plainTool({ wireName, description, parameters }: CompiledTool): Block {
  return { name: wireName, description, input_schema: parameters as Block };
}
