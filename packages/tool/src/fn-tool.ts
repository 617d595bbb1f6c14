import type { JsonSchema, Tool, ToolArguments } from "@shedkit/types";
import type { ToolContext, ToolImpl } from "./impl.js";
import { ToolCallResult } from "./result.js";
import { ToolArgs } from "./tool-args.js";

/** A tool from a JSON Schema and a function, without types: for schemas that come from elsewhere. */
export class FnTool implements ToolImpl {
  readonly #definition: Tool;
  readonly #fn: (args: ToolArgs, ctx: ToolContext) => Promise<ToolCallResult | string>;

  /** A string that `fn` gives is a text result. `args` describes an object. */
  constructor(
    name: string,
    description: string,
    args: JsonSchema,
    fn: (args: ToolArgs, ctx: ToolContext) => Promise<ToolCallResult | string>,
  ) {
    this.#definition = { type: "single", definition: { name, category: "custom", description, arguments: args } };
    this.#fn = fn;
  }

  definition(): Tool {
    return this.#definition;
  }

  async execute(args: ToolArguments, ctx: ToolContext): Promise<ToolCallResult> {
    const result = await this.#fn(new ToolArgs(ctx.names.tool, args, ctx.names.param), ctx);
    return typeof result === "string" ? ToolCallResult.text(result) : result;
  }
}
