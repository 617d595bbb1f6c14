import { AgenticError } from "@shedkit/types";

/** What the program's exit codes mean; the README and `--help` list them. */
export const ExitCode = { answered: 0, failed: 1, usage: 2, noModel: 3, notPermitted: 4, interrupted: 130 } as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The command line or the configuration is wrong; the message says what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Problems of a model that lie in what was asked for or set up, not in the model. */
const CONFIGURATION: ReadonlySet<string> = new Set(["badReference", "cacheNotWritable"]);

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return ExitCode.usage;
  if (!AgenticError.is(error)) return ExitCode.failed;
  switch (error.code) {
    case "provider":
      return CONFIGURATION.has((error as AgenticError<"provider">).details.problem ?? "")
        ? ExitCode.usage
        : ExitCode.noModel;
    case "routing":
    case "auth":
      return ExitCode.noModel;
    case "toolNotAuthorized":
      return ExitCode.notPermitted;
    case "cancelled":
      return ExitCode.interrupted;
    default:
      return ExitCode.failed;
  }
}

/** One line about an error, for a person. */
export function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = message.replace(/\s*[\r\n]+\s*/g, " ").trim();
  if (error instanceof UsageError || AgenticError.is(error)) return line;
  return `unexpected error: ${line || "no message"} (run again with --debug for the details)`;
}
