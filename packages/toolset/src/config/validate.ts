import { metadataOf, type ToolImpl, type ToolMetadata } from "@shedkit/tool";
import type { JsonSchema, JsonValue, Tool } from "@shedkit/types";
import { isExternalName } from "../external.js";
import { inWords, missing, type RequiredTool } from "../requirement.js";
import { checkParams, mergeParams } from "./params.js";
import { parametersOf } from "./rename.js";
import { configProblems } from "./shape.js";
import type { ToolConfig, ToolSetConfig, ToolSetProblem, ToolSetWarning } from "./types.js";
import { type BehaviorPreset, checkPreset, resolveVersion } from "./version.js";

/** A tool that is to be in the set, with all that was decided about it. */
export interface PlannedTool extends RequiredTool {
  readonly impl: ToolImpl;
  readonly definition: Tool;
  readonly metadata: ToolMetadata;
  readonly entry: ToolConfig;
  /** The client's name. */
  readonly name: string;
  readonly version: string | undefined;
  /** The schema of its arguments under its settings; undefined where it is the definition's. */
  readonly input: JsonSchema | undefined;
}

export interface Plan {
  readonly tools: readonly PlannedTool[];
  readonly warnings: readonly ToolSetWarning[];
  /** Those of the phase that failed; empty where the plan can be used. */
  readonly problems: readonly ToolSetProblem[];
}

/** The registered tools by full id; a tool registered later under the same id replaces the earlier one. */
export type Registered = ReadonlyMap<string, ToolImpl>;

/** Names that no tool of a set may have. */
const RESERVED: ReadonlySet<string> = new Set(["shed"]);
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const PARAM = /^[^\s.]{1,64}$/;

/**
 * Checks a configuration in phases, each only if the one before it found nothing: its fields; the preset; each entry (it
 * exists, its version, settings, names); client names; conflicts; requirements.
 */
export function plan(
  config: ToolSetConfig,
  registered: Registered,
  presets: ReadonlyMap<string, BehaviorPreset>,
): Plan {
  const malformed = configProblems(config);
  if (malformed.length > 0) return { tools: [], warnings: [], problems: malformed };
  const { problem, warning } = checkPreset(config.behaviorPreset, presets);
  if (problem !== undefined) return { tools: [], warnings: [], problems: [problem] };
  const warnings = warning === undefined ? [] : [warning];
  const preset = config.behaviorPreset === undefined ? undefined : presets.get(config.behaviorPreset);
  const tools: PlannedTool[] = [];
  const problems: ToolSetProblem[] = [];
  const ids = new Set<string>();
  for (const [i, entry] of entriesOf(config, registered).entries()) {
    const found = find(entry.id, registered);
    if (Array.isArray(found)) problems.push(notFound(entry.id, found, registered));
    else if (ids.has(found.id)) problems.push(listedTwice(found.id, i));
    else {
      ids.add(found.id);
      planOne(found.id, found.impl, entry, preset, tools, problems, warnings);
    }
  }
  const checks = [clientNames, conflicts];
  for (let i = 0; problems.length === 0 && i < checks.length; i++) problems.push(...(checks[i]?.(tools) ?? []));
  return { tools, warnings, problems };
}

function entriesOf(config: ToolSetConfig, registered: Registered): readonly ToolConfig[] {
  return config.tools.length > 0 ? config.tools : Array.from(registered.keys(), (id) => ({ id }));
}

/** The tool of that id; else the full ids that it could mean. */
function find(id: string, registered: Registered): { id: string; impl: ToolImpl } | string[] {
  const exact = registered.get(id);
  if (exact !== undefined) return { id, impl: exact };
  const ids = id.includes(":") ? [] : [...registered.keys()].filter((known) => known.endsWith(`:${id}`));
  const [only] = ids;
  const impl = ids.length === 1 && only !== undefined ? registered.get(only) : undefined;
  return impl === undefined || only === undefined ? ids : { id: only, impl };
}

function notFound(id: string, candidates: readonly string[], registered: Registered): ToolSetProblem {
  const [category, message] =
    candidates.length > 1
      ? ["tool_ambiguous", `More than one tool has that id. Say which: ${candidates.join(", ")}.`]
      : ["tool_not_found", `There is no tool "${id}".`];
  const expected = (candidates.length > 1 ? candidates : [...registered.keys()]).join(", ");
  return { tool: id, category, fieldPath: "id", badValue: id, expected, message };
}

function listedTwice(id: string, index: number): ToolSetProblem {
  const message = `It is listed twice (again at tools.${index}).`;
  return { tool: id, category: "duplicate_tool", fieldPath: "id", badValue: id, message };
}

function planOne(
  id: string,
  impl: ToolImpl,
  entry: ToolConfig,
  preset: BehaviorPreset | undefined,
  tools: PlannedTool[],
  problems: ToolSetProblem[],
  warnings: ToolSetWarning[],
): void {
  const definition = impl.definition();
  const own = metadataOf(impl, definition);
  const metadata = entry.kind === undefined ? own : { ...own, kind: entry.kind };
  const { version, problem, warning } = resolveVersion(id, metadata, entry, preset);
  if (problem !== undefined) problems.push(problem);
  if (warning !== undefined) warnings.push(warning);
  const inputs = parametersOf(definition);
  const faults = checkParams(id, metadata, entry.params);
  problems.push(...faults, ...checkNames(id, entry, inputs));
  const params = mergeParams(metadata, entry.params);
  const name = entry.nameOverride ?? metadata.id;
  const input = entry.params === undefined || faults.length > 0 ? undefined : metadata.inputFor?.(params);
  const offered = input === undefined ? inputs : inputs.filter((canonical) => isOffered(canonical, input));
  const { kind } = metadata;
  tools.push({ id, impl, definition, metadata, entry, name, version, kind, params, input, inputs: offered });
}

function isOffered(canonical: string, input: JsonSchema): boolean {
  const { properties } = input as { properties?: object };
  return properties !== undefined && Object.hasOwn(properties, canonical);
}

function checkNames(id: string, entry: ToolConfig, inputs: readonly string[]): ToolSetProblem[] {
  const problems: ToolSetProblem[] = [];
  const add = (category: string, fieldPath: string, badValue: JsonValue, message: string, expected?: string): void => {
    problems.push({
      tool: id,
      category,
      fieldPath,
      badValue,
      message,
      ...(expected === undefined ? {} : { expected }),
    });
  };
  const { nameOverride, paramsNameOverrides = {} } = entry;
  if (nameOverride !== undefined) {
    if (!NAME.test(nameOverride))
      add("client_name", "nameOverride", nameOverride, "It is no name for a tool.", "1 to 64 of A-Z a-z 0-9 _ -");
    else if (RESERVED.has(nameOverride))
      add("client_name", "nameOverride", nameOverride, `The name "${nameOverride}" is taken by the system.`);
    else if (isExternalName(nameOverride))
      add("client_name", "nameOverride", nameOverride, 'A name with "__" marks a tool of an external server.');
  }
  const taken = new Map<string, string>();
  for (const [canonical, client] of Object.entries(paramsNameOverrides)) {
    const path = `paramsNameOverrides.${canonical}`;
    const owner = taken.get(client);
    if (!inputs.includes(canonical))
      add("param_name", path, client, `It has no parameter "${canonical}".`, inputs.join(", "));
    else if (!PARAM.test(client) || client === "__proto__")
      add("param_name", path, client, "It is no name for a parameter.");
    else if (owner !== undefined) add("param_name", path, client, `"${owner}" is to be called "${client}" too.`);
    else if (client !== canonical && inputs.includes(client))
      add("param_name", path, client, `Another of its parameters is named "${client}".`);
    taken.set(client, canonical);
  }
  return problems;
}

function clientNames(tools: readonly PlannedTool[]): ToolSetProblem[] {
  const owners = new Map<string, string>();
  return tools.flatMap(({ id, name }) => {
    const owner = owners.get(name);
    if (owner === undefined) {
      owners.set(name, id);
      return [];
    }
    const message = `"${owner}" has the name "${name}" already. Give one of them another name.`;
    return [{ tool: id, category: "duplicate_client_name", fieldPath: "nameOverride", badValue: name, message }];
  });
}

function conflicts(tools: readonly PlannedTool[]): ToolSetProblem[] {
  const there = new Set(tools.map(({ id }) => id));
  const said = new Set<string>();
  const bundles = new Map<string, { own: Set<string>; others: Set<string> }>();
  const problems = tools.flatMap(({ id, metadata }) =>
    (metadata.conflicts ?? []).flatMap((other) => {
      const full = other.includes(":") ? other : `${metadata.namespace}:${other}`;
      const pair = [id, full].sort().join(" ");
      if (full === id || !there.has(full) || said.has(pair)) return [];
      said.add(pair);
      if (metadata.bundle !== undefined) {
        const { own, others } = bundles.get(metadata.bundle) ?? { own: new Set(), others: new Set() };
        bundles.set(metadata.bundle, { own: own.add(id), others: others.add(full) });
        return [];
      }
      const message = `It cannot be in one set with "${full}". Leave one of them out.`;
      return [{ tool: id, category: "conflict", fieldPath: "tools", badValue: full, message }];
    }),
  );
  return [...problems, ...Array.from(bundles, ([bundle, { own, others }]) => bundleConflict(bundle, own, others))];
}

/** Of tools that do one thing in two ways: no tool of theirs is to blame alone. */
function bundleConflict(bundle: string, own: ReadonlySet<string>, others: ReadonlySet<string>): ToolSetProblem {
  const message = `${inQuotes(own)} cannot be in one set with ${inQuotes(others)}. Leave out the ones or the others.`;
  const category = `${bundle.replaceAll("-", "_")}_conflict`;
  return { tool: `(${bundle})`, category, fieldPath: "tools", badValue: [...own, ...others], message };
}

function inQuotes(ids: ReadonlySet<string>): string {
  return Array.from(ids, (id) => `"${id}"`).join(", ");
}

/** What the tools of a set require and do not find in it. */
export function unmetRequirements(tools: readonly PlannedTool[]): ToolSetProblem[] {
  return tools.flatMap((tool) => {
    const { requires } = tool.metadata;
    const parts = requires === undefined ? [] : missing(requires, tools, tool.params);
    return parts.map((part) => ({
      tool: tool.id,
      category: "requirements",
      fieldPath: fieldOf(requires),
      expected: requires === undefined ? "" : inWords(requires),
      message: `It needs ${part}.`,
    }));
  });
}

/** The setting to change, where a requirement hangs on one. */
function fieldOf(requires: ToolMetadata["requires"]): string {
  if (typeof requires === "object" && "ifParams" in requires) {
    const [key] = Object.keys(requires.ifParams);
    if (key !== undefined) return `params.${key}`;
  }
  return "tools";
}
