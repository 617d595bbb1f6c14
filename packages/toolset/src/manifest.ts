import { metadataOf, type Requirement, type ToolImpl, type ToolKind } from "@shedkit/tool";
import { functionSpec, type JsonSchema, type JsonValue } from "@shedkit/types";

/** What a tool was registered as, before any configuration: plain JSON. */
export interface ToolManifest {
  readonly namespace: string;
  readonly id: string;
  readonly kind: ToolKind;
  /** Of its arguments; for a tool of several commands, of all of them. */
  readonly inputSchema: JsonSchema;
  /** Its settings where nobody sets them. Absent where it has none. */
  readonly defaultParams?: JsonValue | undefined;
  readonly paramsSchema?: JsonSchema | undefined;
  readonly requires?: Requirement | undefined;
  /** Its behaviour versions. Absent where it has none. */
  readonly versions?: readonly string[] | undefined;
}

export function manifestOf(tool: ToolImpl): ToolManifest {
  const definition = tool.definition();
  const { namespace, id, kind, params, requires, versions } = metadataOf(tool, definition);
  return {
    namespace,
    id,
    kind,
    inputSchema: functionSpec(definition).parameters,
    ...(params === undefined ? {} : { defaultParams: params.defaults, paramsSchema: params.schema }),
    ...(requires === undefined ? {} : { requires }),
    ...(versions === undefined ? {} : { versions: versions.map(({ version }) => version) }),
  };
}
