import type { DescribeContext, ToolKind } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import { parametersOf } from "../config/rename.js";
import type { BoundTool } from "../contract.js";
import type { TemplateContext, TemplateValue } from "./expression.js";

/** What templates are told of one tool. */
export interface NamedTool {
  readonly kind: ToolKind;
  /** The tool's own id. Default: it is found by its kind alone. */
  readonly id?: string | undefined;
  /** The client's name. */
  readonly name: string;
  /** Canonical name to client name. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** What templates are told of a tool that is ready for calls. */
export function namedTool({ name, impl, metadata, paramName }: BoundTool): NamedTool {
  const inputs = new Map(parametersOf(impl.definition()).map((canonical) => [canonical, paramName(canonical)]));
  return { kind: metadata.kind, id: metadata.id, name, inputs };
}

/** The names by kind. The first tool of a kind gives the kind its name; parameters are those of all of them. */
export class ToolNames {
  readonly #tools = new Map<string, string>();
  /** Likewise, by kind and id: `<kind>/<id>`. */
  readonly #ids = new Map<string, string>();
  readonly #params = new Map<string, Map<string, string>>();
  #plain: { readonly tools: TemplateValue; readonly params: TemplateValue } | undefined;

  constructor(tools: Iterable<NamedTool>) {
    for (const { kind, id, name, inputs } of tools) {
      if (!this.#tools.has(kind)) this.#tools.set(kind, name);
      if (id !== undefined && !this.#ids.has(`${kind}/${id}`)) this.#ids.set(`${kind}/${id}`, name);
      const params = this.#params.get(kind) ?? new Map<string, string>();
      this.#params.set(kind, params);
      for (const [canonical, client] of inputs) {
        // A tool that renames has the last word: its siblings say their own names by their context.
        if (client !== canonical || !params.has(canonical)) params.set(canonical, client);
      }
    }
  }

  tool(kind: ToolKind, id?: string): string | undefined {
    return id === undefined ? this.#tools.get(kind) : this.#ids.get(`${kind}/${id}`);
  }

  param(kind: ToolKind, canonical: string): string | undefined {
    return this.#params.get(kind)?.get(canonical);
  }

  /** `tools.by_kind.<kind>`, `params.<kind>.<canonical>`, `settings.<key>`, `system_reminders_enabled`, and extras. */
  context(settings: JsonValue, reminders: boolean, extra: { [key: string]: JsonValue } = {}): TemplateContext {
    // The same for every tool of a set, which may have thousands.
    this.#plain ??= {
      tools: { by_kind: Object.fromEntries(this.#tools) },
      params: Object.fromEntries(Array.from(this.#params, ([kind, params]) => [kind, Object.fromEntries(params)])),
    };
    return {
      ...this.#plain,
      settings: settings as TemplateValue,
      system_reminders_enabled: reminders,
      ...(extra as TemplateContext),
    };
  }
}

/** What a description is told that is written by its tool. */
export function describeContext(
  names: () => ToolNames,
  params: JsonValue,
  version: string | undefined,
): DescribeContext {
  return {
    tool: (kind, id) => names().tool(kind, id),
    param: (kind, canonical) => names().param(kind, canonical),
    params,
    version: version ?? "current",
  };
}
