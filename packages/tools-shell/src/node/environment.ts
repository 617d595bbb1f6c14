/** Variables, by name. */
export interface Environment {
  readonly [name: string]: string | undefined;
}

const SECRET_NAME = /KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL/i;

/** A URL with a password in it. */
const SECRET_VALUE = /\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/** No colours, no pagers, no questions: nobody sees them. */
const QUIET: Environment = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  PYTHONUNBUFFERED: "1",
};

/** What commands see of an environment: without secrets, and set so that nothing waits for a person. */
export function commandEnvironment(env: Environment, keep: readonly string[]): { [name: string]: string } {
  const kept = new Set(keep);
  const seen: { [name: string]: string } = {};
  for (const [name, value] of Object.entries({ ...env, ...QUIET })) {
    if (value === undefined || name === COMMAND) continue;
    // Bash functions stand in the environment too, and may hold anything.
    if (!kept.has(name) && (SECRET_NAME.test(name) || SECRET_VALUE.test(value) || name.startsWith("BASH_FUNC_")))
      continue;
    seen[name] = value;
  }
  return seen;
}

/** The variable that brings a command to its shell: not an argument, so that `pkill -f` does not find its own shell. */
export const COMMAND = "SHEDKIT_COMMAND";
