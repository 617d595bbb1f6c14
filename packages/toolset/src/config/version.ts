import type { BehaviorVersion, ToolMetadata } from "@shedkit/tool";
import type { ToolConfig, ToolSetProblem, ToolSetWarning } from "./types.js";

/** Behaviour versions for many tools at once. */
export interface BehaviorPreset {
  lifecycle: BehaviorVersion["lifecycle"];
  /** What to use instead, where this one goes away. */
  replacement?: string | undefined;
  /** By full id. A tool that is not named has its current one. */
  versions: { readonly [fullId: string]: string };
}

/** The version that always is there. */
const CURRENT = "current";

/** Which behaviour version a tool has, and what there is to say about it. */
export interface ResolvedVersion {
  /** Undefined for a tool without versions. */
  version?: string | undefined;
  problem?: ToolSetProblem | undefined;
  warning?: ToolSetWarning | undefined;
}

/** What the entry says, else what the preset says, else the current one: the first that is active. */
export function resolveVersion(
  id: string,
  metadata: ToolMetadata,
  entry: ToolConfig | undefined,
  preset: BehaviorPreset | undefined,
): ResolvedVersion {
  const { versions = [] } = metadata;
  const wanted = entry?.behaviorVersion ?? preset?.versions[id] ?? CURRENT;
  const problem = (message: string): ResolvedVersion => ({
    problem: {
      tool: id,
      category: "behavior_version",
      fieldPath: "behaviorVersion",
      badValue: wanted,
      expected: [CURRENT, ...versions.map(({ version }) => version)].join(", "),
      message,
    },
  });
  if (versions.length === 0) {
    return entry?.behaviorVersion === undefined || wanted === CURRENT
      ? {}
      : problem(`It has no behaviour versions, so it cannot have "${wanted}".`);
  }
  const known = versions.find(({ version }) => version === wanted);
  if (known === undefined) {
    if (wanted === CURRENT) return { version: versions.find(({ lifecycle }) => lifecycle === "active")?.version };
    const names = versions.map(({ version }) => `"${version}"`).join(", ");
    return problem(`It has no behaviour version "${wanted}". It has ${names} and "${CURRENT}".`);
  }
  if (known.lifecycle === "removalCandidate")
    return problem(`Its behaviour version "${wanted}" goes away. ${useInstead(known.replacement)}`);
  if (known.lifecycle === "active") return { version: wanted };
  const message = `Its behaviour version "${wanted}" is old. ${useInstead(known.replacement)}`;
  return { version: wanted, warning: { tool: id, category: "deprecated_version", message } };
}

/** What is to be said of the preset itself. */
export function checkPreset(
  name: string | undefined,
  presets: ReadonlyMap<string, BehaviorPreset>,
): { problem?: ToolSetProblem; warning?: ToolSetWarning } {
  if (name === undefined || name === CURRENT) return {};
  const preset = presets.get(name);
  const names = [CURRENT, ...presets.keys()];
  const problem = (message: string): { problem: ToolSetProblem } => ({
    problem: {
      tool: "(global)",
      category: "behavior_preset",
      fieldPath: "behaviorPreset",
      badValue: name,
      expected: names.join(", "),
      message,
    },
  });
  if (preset === undefined) return problem(`There is no preset "${name}". There are ${names.join(", ")}.`);
  if (preset.lifecycle === "removalCandidate")
    return problem(`The preset "${name}" goes away. ${useInstead(preset.replacement)}`);
  if (preset.lifecycle === "active") return {};
  const message = `The preset "${name}" is old. ${useInstead(preset.replacement)}`;
  return { warning: { tool: "(global)", category: "deprecated_version", message } };
}

function useInstead(replacement: string | undefined): string {
  return `Use "${replacement ?? CURRENT}" instead.`;
}
