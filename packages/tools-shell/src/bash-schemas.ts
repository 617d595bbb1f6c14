import * as Type from "@sinclair/typebox";
import { type BashParams, DEFAULT_TIMEOUT_MS, longest } from "./bash-params.js";

// In a file of their own: the declarations that users read name no type of TypeBox, which they do not have.

export const inputFor = (params: BashParams) =>
  Type.Object(
    {
      command: Type.String({ description: "The command." }),
      description: Type.String({ description: "What it does, in 5 to 10 words." }),
      timeout: Type.Optional(
        Type.Number({
          minimum: 0,
          description: `Milliseconds it may take. Default: ${Math.min(DEFAULT_TIMEOUT_MS, longest(params))}.`,
        }),
      ),
      is_background: Type.Optional(
        Type.Boolean({ description: "Runs it in the background; then without a timeout of its own.", default: false }),
      ),
      cwd: Type.Optional(
        Type.String({ description: "The folder to run in. Default: where the last command left off." }),
      ),
      takes_input: Type.Optional(
        Type.Boolean({
          description: "In the background: its standard input stays open, to be sent lines.",
          default: false,
        }),
      ),
    },
    { additionalProperties: false },
  );

export const Foreground = Type.Object({
  type: Type.Literal("foreground"),
  output_text: Type.String(),
  exit_code: Type.Integer(),
  signal: Type.Optional(Type.String()),
  truncated: Type.Boolean(),
});
export const Output = Type.Union([
  Foreground,
  Type.Object({
    type: Type.Literal("background"),
    task_id: Type.String(),
    pid: Type.Optional(Type.Integer()),
    log: Type.Optional(Type.String()),
  }),
]);

export const Params = Type.Object(
  {
    enabledBackground: Type.Boolean(),
    maxTimeoutMs: Type.Number({ exclusiveMinimum: 0, maximum: 36_000_000 }),
    backgroundOnTimeout: Type.Boolean(),
    backgroundAfterMs: Type.Number({ minimum: 0 }),
    backgroundOperator: Type.Boolean(),
    backgroundInput: Type.Boolean(),
    commandPrefix: Type.String(),
    maxOutputChars: Type.Integer({ minimum: 200 }),
  },
  { additionalProperties: false },
);
