import { metadataOf, type ToolImpl } from "@shedkit/tool";
import { type BindOptions, type BoundTool, type NamedTool, renderTemplate, ToolNames } from "@shedkit/toolset";
import { functionSpec, type Tool, toolName } from "@shedkit/types";

/** How a tool is made ready that joins others: as a configuration without any wishes would. */
export function lateBinding(tool: ToolImpl, others: () => Iterable<BoundTool>): BindOptions {
  const definition = tool.definition();
  const metadata = metadataOf(tool, definition);
  if (metadata.foreign) return { metadata }; // whoever made it knows none of the names here
  const params = metadata.params?.defaults ?? {};
  let known: ToolNames | undefined; // most tools name no other
  const names = () => {
    known ??= new ToolNames([...Array.from(others(), namedTool), named(definition, metadata.kind, (key) => key)]);
    return known;
  };
  return {
    metadata,
    params,
    description: metadata.describe?.({
      tool: (kind) => names().tool(kind),
      param: (kind, canonical) => names().param(kind, canonical),
      params,
      version: "current",
    }),
    render: (text) => (text.includes("${") ? renderTemplate(text, names().context(params, true)) : text),
  };
}

/** What templates are told of a tool. */
export function namedTool({ name, impl, metadata, paramName }: BoundTool): NamedTool {
  return { ...named(impl.definition(), metadata.kind, paramName), name };
}

function named(definition: Tool, kind: NamedTool["kind"], paramName: (canonical: string) => string): NamedTool {
  const { properties = {} } = functionSpec(definition).parameters as { properties?: object };
  const inputs = new Map(Object.keys(properties).map((key) => [key, paramName(key)]));
  return { kind, name: toolName(definition), inputs };
}
