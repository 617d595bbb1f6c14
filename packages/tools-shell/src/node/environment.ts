import { isSecretVariable } from "@shedkit/tool";

/** Variables, by name. */
export interface Environment {
  readonly [name: string]: string | undefined;
}

/** No colours, no pagers, no questions: nobody sees them. */
const QUIET: Environment = {
  TERM: "dumb",
  NO_COLOR: "1",
  FORCE_COLOR: "0",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  // There is no terminal.
  GPG_TTY: undefined,
  // For scripts that want to know.
  SHEDKIT_AGENT: "1",
};

/** What commands see of an environment: without secrets, and set so that nothing waits for a person; and the secrets. */
export function commandEnvironment(
  env: Environment,
  keep: readonly string[],
): { seen: { [name: string]: string }; secrets: string[] } {
  const kept = new Set(keep);
  const seen: { [name: string]: string } = {};
  const secrets: string[] = [];
  for (const [name, value] of Object.entries({ PYTHONUNBUFFERED: "1", ...env, ...QUIET })) {
    if (value === undefined || name === COMMAND) continue;
    if (kept.has(name)) seen[name] = value;
    else if (isSecretVariable(name, value)) secrets.push(value);
    // Bash functions stand in the environment too, and may hold anything.
    else if (!name.startsWith("BASH_FUNC_")) seen[name] = value;
  }
  return { seen, secrets };
}

/** The variable that brings a command to its shell: not an argument, so that `pkill -f` does not find its own shell. */
export const COMMAND = "SHEDKIT_COMMAND";
