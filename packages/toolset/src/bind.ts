import {
  evalFreeValidator,
  fullId,
  metadataOf,
  prepareArguments,
  type SchemaValidator,
  showIssues,
  type ToolCallResult,
  ToolError,
  type ToolImpl,
} from "@shedkit/tool";
import { type JsonSchema, type Tool, toolName } from "@shedkit/types";
import type { BoundTool } from "./contract.js";

export interface BindOptions {
  /** Default: the eval-free one. {@link loadValidator} gives the fast one. */
  validator?: SchemaValidator | undefined;
}

/**
 * Makes a tool ready for calls. Throws ToolError `invalidArguments`, naming the tool, where one of its schemas is not
 * valid.
 */
export function bindTool(impl: ToolImpl, options: BindOptions = {}): BoundTool {
  const validator = options.validator ?? evalFreeValidator;
  const definition = impl.definition();
  const name = toolName(definition);
  const metadata = metadataOf(impl, definition);
  for (const schema of schemasOf(definition)) compileFor(name, schema, validator);
  return {
    name,
    id: fullId(metadata),
    impl,
    definition,
    metadata,
    prepare: (raw) => prepareArguments(definition, raw, validator),
    checkResult: (result) => checkResult(definition, result, validator),
  };
}

function schemasOf(tool: Tool): JsonSchema[] {
  const definitions = tool.type === "single" ? [tool.definition] : tool.commands;
  return definitions.flatMap(({ arguments: args, returns }) => (returns === undefined ? [args] : [args, returns]));
}

function compileFor(name: string, schema: JsonSchema, validator: SchemaValidator): void {
  try {
    validator.compile(schema);
  } catch (e) {
    const reason = e instanceof Error ? e.message : String(e);
    throw new ToolError("invalidArguments", name, `The tool ${name} cannot be used. ${reason}`, { cause: e });
  }
}

/** Several commands share one name, so nothing tells which one's `returns` would be meant: the command checks itself. */
function checkResult(definition: Tool, result: ToolCallResult, validator: SchemaValidator): ToolCallResult {
  if (definition.type === "multi" || definition.definition.returns === undefined) return result;
  if (result.errorDetail !== undefined) return result;
  const { name, returns } = definition.definition;
  const issues = validator.compile(returns)(result.output ?? null);
  if (issues.length === 0) return result;
  throw new ToolError("execution", name, `${name} returned what it does not promise:\n${showIssues(issues)}`);
}
