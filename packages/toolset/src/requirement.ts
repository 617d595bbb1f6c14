import { jsonEqual, type ParamRequirement, type Requirement, type ToolKind } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";

/** What a requirement looks at of a tool that is, or is to be, in a set. */
export interface RequiredTool {
  /** `namespace:id`. */
  readonly id: string;
  readonly kind: ToolKind;
  /** Its settings in force. */
  readonly params: JsonValue;
  /** The canonical names of its parameters. */
  readonly inputs: readonly string[];
}

/** Whether a set of tools has what is required. `own` are the settings of the tool that requires it. */
export function isMet(requirement: Requirement, tools: readonly RequiredTool[], own: JsonValue): boolean {
  if (typeof requirement === "boolean") return requirement;
  if ("all" in requirement) return requirement.all.every((part) => isMet(part, tools, own));
  if ("any" in requirement) return requirement.any.some((part) => isMet(part, tools, own));
  if ("not" in requirement) return !isMet(requirement.not, tools, own);
  if ("ifParams" in requirement) return !hasParams(own, requirement.ifParams) || isMet(requirement.then, tools, own);
  if ("kindHasParam" in requirement) {
    const { kind, param } = requirement.kindHasParam;
    return tools.some((tool) => tool.kind === kind && tool.inputs.includes(param));
  }
  return tools.some(
    (tool) =>
      ("tool" in requirement ? isNamed(tool.id, requirement.tool) : tool.kind === requirement.kind) &&
      (requirement.params === undefined || hasParams(tool.params, requirement.params)),
  );
}

/** Which parts of a requirement are not met, in words. Empty where it is met. */
export function missing(requirement: Requirement, tools: readonly RequiredTool[], own: JsonValue): string[] {
  if (isMet(requirement, tools, own)) return [];
  if (typeof requirement === "object") {
    if ("all" in requirement) return requirement.all.flatMap((part) => missing(part, tools, own));
    if ("ifParams" in requirement) {
      const because = `as ${paramsText(requirement.ifParams)}`;
      return missing(requirement.then, tools, own).map((text) => `${text} (${because})`);
    }
  }
  return [inWords(requirement)];
}

/** Which tools would do, in words. */
export function inWords(requirement: Requirement): string {
  if (typeof requirement === "boolean") return requirement ? "nothing" : "what cannot be";
  if ("all" in requirement) return requirement.all.map(inWords).join(" and ") || "nothing";
  if ("any" in requirement) return requirement.any.map(inWords).join(" or ") || "what cannot be";
  if ("not" in requirement) return `no ${inWords(requirement.not)}`;
  if ("ifParams" in requirement) return `${inWords(requirement.then)}, where ${paramsText(requirement.ifParams)}`;
  if ("kindHasParam" in requirement) {
    const { kind, param } = requirement.kindHasParam;
    return `a tool of kind "${kind}" with a parameter "${param}"`;
  }
  const which = "tool" in requirement ? `the tool "${requirement.tool}"` : `a tool of kind "${requirement.kind}"`;
  return requirement.params === undefined ? which : `${which} with ${paramsText(requirement.params)}`;
}

function paramsText(wanted: ParamRequirement): string {
  return Object.entries(wanted)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(", ");
}

/** A full id, or an id without its namespace. */
function isNamed(id: string, wanted: string): boolean {
  return id === wanted || (!wanted.includes(":") && id.endsWith(`:${wanted}`));
}

function hasParams(params: JsonValue, wanted: ParamRequirement): boolean {
  return Object.entries(wanted).every(
    ([key, value]) =>
      typeof params === "object" &&
      params !== null &&
      Object.hasOwn(params, key) &&
      jsonEqual((params as { [key: string]: JsonValue })[key], value),
  );
}
