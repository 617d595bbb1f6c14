import { prepareArguments, type SchemaValidator, ToolError } from "@shedkit/tool";
import type { Tool, ToolArguments } from "@shedkit/types";
import { AFTER, takeAfter, withOrdering } from "./calls/ordering.js";
import { unknownTool } from "./calls/outcomes.js";
import { SHED_NAME } from "./shed-tool.js";
import type { ToolCallRequest } from "./types.js";

/** The name of the tool that calls others, where a session has it. */
export const USE_TOOL_NAME = "use_tool";

/** How a session's tools are called by name; see {@link ToolShed.callByName}. */
export interface CallByNameOptions {
  /** Tells a model that calls a declared tool by `use_tool` to call it directly, not only that it cannot. Default: true. */
  correct?: boolean | undefined;
}

/** What the model is told of `use_tool`: small models are told nothing of what need not be given. */
export const USE_TOOL = definitionOf(["tool_name", "tool_input"]);

/** What a call of it must hold. */
const TAKEN = definitionOf(["tool_name"]);

function definitionOf(required: string[]): Tool {
  return {
    type: "single",
    definition: {
      name: USE_TOOL_NAME,
      category: "shed",
      description:
        "Calls a tool that shed found. Give its name, and as its input the arguments that fit the schema shed showed.",
      arguments: {
        type: "object",
        properties: {
          tool_name: { type: "string", description: "The name, as shed returned it." },
          tool_input: { type: "object", description: "The arguments of that tool; {} for none." },
        },
        required,
        additionalProperties: false,
      },
    },
  };
}

export const ORDERED_USE_TOOL = withOrdering(USE_TOOL);

/** Which tools there are, and which of them are called directly. */
export interface NamedTools {
  has(name: string): boolean;
  isDeclared(name: string): boolean;
}

/** A call, and what was mended in the one that asked for it. */
interface Target {
  request: ToolCallRequest;
  repaired: readonly string[];
}

/** Finds out what calls of `use_tool` stand for. */
export class UseTool {
  readonly #tools: NamedTools;
  readonly #options: CallByNameOptions;
  readonly #validator: SchemaValidator | undefined;
  readonly #ordering: boolean;

  constructor(
    tools: NamedTools,
    options: CallByNameOptions,
    { validator, ordering = false }: { validator?: SchemaValidator | undefined; ordering?: boolean | undefined },
  ) {
    this.#tools = tools;
    this.#options = options;
    this.#validator = validator;
    this.#ordering = ordering;
  }

  /**
   * The call of the tool itself, with the same id. Throws ToolError `invalidArguments` where the arguments are none, or
   * the tool is called directly; `unknownTool` where there is none of that name.
   */
  target(request: ToolCallRequest): Target {
    const { request: bare, after } = this.#ordering ? takeAfter(request, TAKEN) : { request };
    const { args, repaired } = prepareArguments(TAKEN, bare.rawArguments ?? bare.arguments, this.#validator);
    const { tool_name: name, tool_input: input = {} } = args as { tool_name: string; tool_input?: ToolArguments };
    if (name === SHED_NAME || name === USE_TOOL_NAME || this.#tools.isDeclared(name)) throw this.#direct(name);
    if (!this.#tools.has(name)) throw unknownTool(name);
    const { rawArguments: _, ...rest } = bare;
    const ordered = after === undefined ? input : { ...input, [AFTER]: after as string };
    return { request: { ...rest, name, arguments: ordered }, repaired };
  }

  #direct(name: string): ToolError {
    const why = `tool_name: "${name}" cannot be called by ${USE_TOOL_NAME}.`;
    const advice =
      name === USE_TOOL_NAME
        ? "Give the name of the tool that is to run."
        : `It is a tool that you have: call ${name} directly, with its own arguments.`;
    const message = this.#options.correct === false ? why : `${why} ${advice}`;
    return new ToolError("invalidArguments", USE_TOOL_NAME, message);
  }
}
