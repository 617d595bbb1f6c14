import { metadataOf, type ToolImpl } from "@shedkit/tool";
import { type BindOptions, type NamedTool, parametersOf, renderTemplate, ToolNames } from "@shedkit/toolset";
import { toolName } from "@shedkit/types";

/** How a tool is made ready that joins others: as a configuration without any wishes would. */
export function lateBinding(tool: ToolImpl, others: () => Iterable<NamedTool>): BindOptions {
  const definition = tool.definition();
  const metadata = metadataOf(tool, definition);
  if (metadata.foreign) return { metadata }; // whoever made it knows none of the names here
  const params = metadata.params?.defaults ?? {};
  const inputs = new Map(parametersOf(definition).map((name) => [name, name]));
  const own: NamedTool = { kind: metadata.kind, name: toolName(definition), inputs };
  let known: ToolNames | undefined; // most tools name no other
  const names = () => {
    known ??= new ToolNames([...others(), own]);
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
