/** The arguments of `bash`. */
export interface BashInput {
  command: string;
  /** What the command does, in a few words: for people. */
  description: string;
  /** Milliseconds. Default: 120,000; at most the `maxTimeoutMs` setting. In the background: none. */
  timeout?: number | undefined;
  /** Default: false. */
  is_background?: boolean | undefined;
  /** The folder to run in. Default: where the last command left off. */
  cwd?: string | undefined;
  /** With `is_background`, where the `backgroundInput` setting is true: `task_input` can send it lines. Default: false. */
  takes_input?: boolean | undefined;
}

/** What `bash` gives beside its text. */
export type BashOutput =
  | {
      type: "foreground";
      /** Head and tail where it is long. */
      output_text: string;
      /** -1 where a signal ended it. */
      exit_code: number;
      signal?: string | undefined;
      truncated: boolean;
    }
  | { type: "background"; task_id: string; pid?: number | undefined; log?: string | undefined };

/** Settings of `bash`. */
export interface BashParams {
  /** Offers `is_background`. Default: true. */
  enabledBackground: boolean;
  /** The longest a command in the foreground may take, in milliseconds. Default: 300,000. */
  maxTimeoutMs: number;
  /** A command that runs out of time goes on in the background in place of being ended. Default: false. */
  backgroundOnTimeout: boolean;
  /**
   * With `backgroundOnTimeout`: how long a command is waited for, if its time is longer, in milliseconds. 0: until its time
   * is up. Default: 15,000.
   */
  backgroundAfterMs: number;
  /** Lets a command put something into the background with `&`. Default: true. */
  backgroundOperator: boolean;
  /** Offers `takes_input`, for commands in the background that are sent input. Default: false. */
  backgroundInput: boolean;
  /** A command that must succeed before each command, e.g. `. venv/bin/activate`. Default: none. */
  commandPrefix: string;
  /** How much of the output is shown, in characters. Default: 20,000. */
  maxOutputChars: number;
}

export const DEFAULTS: BashParams = {
  enabledBackground: true,
  maxTimeoutMs: 300_000,
  backgroundOnTimeout: false,
  backgroundAfterMs: 15_000,
  backgroundOperator: true,
  backgroundInput: false,
  commandPrefix: "",
  maxOutputChars: 20_000,
};
export const DEFAULT_TIMEOUT_MS = 120_000;

/** The longest time of a command, at least a millisecond. */
export function longest({ maxTimeoutMs }: BashParams): number {
  return Math.max(1, maxTimeoutMs);
}

/** The command as it is run. */
export function whole(command: string, { commandPrefix }: BashParams): string {
  // On a line of its own: what follows may be several commands, and none of them is to run.
  return commandPrefix.trim() === "" ? command : `${commandPrefix} || exit\n${command}`;
}

/** How long a command in the foreground is waited for, in milliseconds. */
export function timeFor({ timeout }: BashInput, params: BashParams): number {
  const asked = Math.max(1, Math.min(timeout || DEFAULT_TIMEOUT_MS, longest(params)));
  const { backgroundOnTimeout, backgroundAfterMs } = params;
  return backgroundOnTimeout && backgroundAfterMs > 0 ? Math.min(asked, backgroundAfterMs) : asked;
}
