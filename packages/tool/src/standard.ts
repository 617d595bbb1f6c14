import { ToolError } from "./error.js";

/**
 * A Standard Schema that can give its JSON Schema (zod, valibot, arktype and others), structurally.
 * See standardschema.dev.
 */
export interface StandardTypedSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => { [key: string]: unknown };
      readonly output: (options: { readonly target: "draft-2020-12" }) => { [key: string]: unknown };
    };
  };
}

/** What a Standard Schema's `validate` gives. */
export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** The type of the values that a Standard Schema gives. */
export type InferStandard<S extends StandardTypedSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** The type of the values that a Standard Schema takes. */
export type InferStandardInput<S extends StandardTypedSchema> = NonNullable<S["~standard"]["types"]>["input"];

export function isStandard(schema: object): schema is StandardTypedSchema {
  return "~standard" in schema;
}

/** The schema's own reading of arguments that fit its JSON Schema: its defaults, transforms and finer checks. */
export async function fromStandard(schema: StandardTypedSchema, args: unknown, tool: string): Promise<unknown> {
  const result = await schema["~standard"].validate(args);
  if (result.issues === undefined) return result.value;
  const lines = result.issues.map((issue) => `- ${pathOf(issue.path)}: ${issue.message}`);
  throw new ToolError(
    "invalidArguments",
    tool,
    `The arguments of ${tool} do not fit:\n${lines.join("\n")}\nCall ${tool} again with these mended.`,
  );
}

function pathOf(path: readonly unknown[] | undefined): string {
  const steps = (path ?? []).map((step) =>
    String(typeof step === "object" && step !== null && "key" in step ? step.key : step),
  );
  return steps.length === 0 ? "the arguments" : steps.join(".");
}
