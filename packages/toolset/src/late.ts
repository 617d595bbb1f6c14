import { fullId, metadataOf, ToolError, type ToolImpl, type ToolMetadata } from "@shedkit/tool";
import { toolName } from "@shedkit/types";
import type { BindOptions } from "./bind.js";
import { parametersOf } from "./config/rename.js";
import type { ToolSetWarning } from "./config/types.js";
import { type ResolvedVersion, resolveVersion } from "./config/version.js";
import { describeContext, type NamedTool, ToolNames } from "./template/context.js";
import { renderTemplate } from "./template/render.js";

export interface LateOptions {
  others(): Iterable<NamedTool>;
  reminders: boolean;
  version?: ((id: string, metadata: ToolMetadata) => ResolvedVersion) | undefined;
  warn(warning: ToolSetWarning): void;
}

/**
 * How a tool is made ready that joins others: as a configuration without any wishes would. Throws ToolError
 * `behaviorVersion` where the one that it would have goes away.
 */
export function lateBinding(tool: ToolImpl, { others, reminders, version: resolve, warn }: LateOptions): BindOptions {
  const definition = tool.definition();
  const metadata = metadataOf(tool, definition);
  if (metadata.foreign) return { metadata }; // whoever made it knows none of the names here
  const name = toolName(definition);
  const id = fullId(metadata);
  const { version, problem, warning } = resolve?.(id, metadata) ?? resolveVersion(id, metadata, undefined, undefined);
  if (problem !== undefined) throw new ToolError("behaviorVersion", name, `${name}: ${problem.message}`);
  if (warning !== undefined) warn(warning);
  const params = metadata.params?.defaults ?? {};
  const inputs = new Map(parametersOf(definition).map((input) => [input, input]));
  let known: ToolNames | undefined; // most tools name no other
  const names = () => {
    known ??= new ToolNames([...others(), { kind: metadata.kind, id: metadata.id, name, inputs }]);
    return known;
  };
  const describing = describeContext(names, params, version);
  return {
    metadata,
    version,
    params,
    description: metadata.describe?.(describing),
    describeCommand: (command) => metadata.describeCommand?.(command, describing),
    render: (text) => (text.includes("${") ? renderTemplate(text, names().context(params, reminders)) : text),
  };
}
