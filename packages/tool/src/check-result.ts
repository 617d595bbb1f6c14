import type { JsonSchema, JsonValue, Tool, ToolArguments } from "@shedkit/types";
import { isPart } from "./content.js";
import { ToolError } from "./error.js";
import { showIssues, showValue } from "./issues.js";
import { ToolCallResult } from "./result.js";
import { evalFreeValidator } from "./schema/validator.js";
import type { SchemaValidator } from "./schema.js";

/** A result that can be stored and sent. Throws ToolError `execution`: the tool is at fault, not the model. */
export function checkedResult(result: unknown, tool: string): ToolCallResult {
  if (!ToolCallResult.is(result) && !looksLikeResult(result))
    throw fault(tool, `gave no result (a ToolCallResult), but ${result === null ? "null" : typeof result}`);
  const { content, output, errorDetail } = result;
  if (!Array.isArray(content)) throw fault(tool, "gave a result whose content is no list");
  for (const [i, part] of content.entries())
    if (!isPart(part))
      throw fault(
        tool,
        `gave a result whose content.${i} is no text, image, audio, file or resource, but ${kindOf(part)}`,
      );
  if (content.some((part) => part.type !== "text")) assertJson(content, tool);
  if (errorDetail !== undefined && typeof errorDetail !== "string")
    throw fault(tool, `gave a result whose errorDetail is no string, but ${showValue(errorDetail)}`);
  assertJson(output, tool);
  return ToolCallResult.is(result) ? result : new ToolCallResult(content, { output, errorDetail });
}

function looksLikeResult(value: unknown): value is { content: unknown; output?: JsonValue; errorDetail?: string } {
  return typeof value === "object" && value !== null && "content" in value;
}

function kindOf(part: unknown): string {
  const type: unknown = typeof part === "object" && part !== null && "type" in part ? part.type : undefined;
  return typeof type === "string" ? `${showValue(part)} (type ${JSON.stringify(type.slice(0, 40))})` : showValue(part);
}

function fault(tool: string, what: string): ToolError {
  return new ToolError("execution", tool, `${tool} ${what}. This is a fault of the tool, not of the call.`);
}

/** Throws ToolError `execution` for a value that JSON cannot hold. `undefined`, also of a property, is no value. */
export function assertJson(value: unknown, tool: string): void {
  if (value === undefined || typeof value === "string") return;
  let reason: string | undefined;
  let cause: unknown;
  try {
    JSON.stringify(value);
    reason = notJson(value);
  } catch (e) {
    cause = e;
    reason =
      e instanceof RangeError
        ? "a value that nests too deep"
        : e instanceof Error && /circular|cyclic/i.test(e.message)
          ? "a value that contains itself"
          : String(e);
  }
  if (reason !== undefined)
    throw new ToolError("execution", tool, `${tool} gave a result that is not JSON: ${reason}.`, { cause });
}

/** What of a value JSON would leave out or turn into null. */
function notJson(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `the number ${value}`;
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") return `a ${typeof value}`;
  if (typeof value !== "object" || value === null || "toJSON" in value) return undefined;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const found = notJson(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Holds a result against the `returns` of its tool, or of the command that the arguments name. Throws ToolError
 * `execution` where it does not fit; a failure need not.
 */
export function checkReturns(
  tool: Tool,
  name: string,
  result: ToolCallResult,
  args?: ToolArguments | undefined,
  validator: SchemaValidator = evalFreeValidator,
): ToolCallResult {
  const definition =
    tool.type === "single" ? tool.definition : tool.commands.find((command) => command.name === args?.command);
  if (definition?.returns === undefined || result.errorDetail !== undefined) return result;
  // As it is stored and sent: without properties that are undefined, dates as texts.
  const sent: unknown = JSON.parse(JSON.stringify(result.output ?? null));
  const issues = validator.compile(definition.returns)(sent);
  if (issues.length === 0) return result;
  const lines = showIssues(issues).replaceAll("- the arguments: ", "- the output: ");
  throw new ToolError("execution", name, `${name} returned what its output schema does not allow:\n${lines}`);
}

/**
 * Holds what a tool wants to remember against the schema of its memory. Throws ToolError `execution`, naming each field,
 * what was wanted and what came: a value that does not fit would be lost when the session is resumed.
 */
export function checkState(schema: JsonSchema, tool: string, value: unknown): void {
  assertJson(value, tool);
  const issues = evalFreeValidator.compile(schema)(value);
  if (issues.length === 0) return;
  const lines = showIssues(issues).replaceAll("- the arguments: ", "- the state: ");
  throw new ToolError("execution", tool, `${tool} wanted to remember what its state schema does not allow:\n${lines}`);
}
