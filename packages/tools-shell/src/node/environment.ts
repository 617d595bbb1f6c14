import { isSecretVariable, showValue, ToolError } from "@shedkit/tool";

/** Variables, by name. */
export interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * Which variables commands see. Names may be patterns, with `*` for any characters and `?` for one; upper and lower case
 * are the same. In this order: what is inherited, without secrets; less `exclude`; `set` over it; of all these `includeOnly`.
 */
export interface VariablePolicy {
  /**
   * What is taken of the environment: all; what programs cannot do without (PATH, HOME, the language) and what
   * `keepVariables` names; nothing. Default: `all`.
   */
  inherit?: "all" | "core" | "none" | undefined;
  /** Inherited variables that commands do not see. Default: none. */
  exclude?: readonly string[] | undefined;
  /** Variables that commands see besides, or otherwise, secrets too. Default: none. */
  set?: { readonly [name: string]: string } | undefined;
  /** No others are seen, those of `set` neither. Default: all. */
  includeOnly?: readonly string[] | undefined;
}

const CORE = "PATH HOME SHELL USER LOGNAME LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP".split(" ");

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
};

/** For scripts that want to know. */
const MARKER: Environment = { SHEDKIT_AGENT: "1" };

/**
 * What commands see of an environment: without secrets, and set so that nothing waits for a person; and the secrets. Throws
 * ToolError `invalidArguments` where `inherit` is none of its values.
 */
export function commandEnvironment(
  env: Environment,
  keep: readonly string[],
  policy: VariablePolicy = {},
): { seen: { [name: string]: string }; secrets: string[] } {
  const { inherit = "all", exclude = [], set = {}, includeOnly } = policy;
  if (!INHERIT.includes(inherit)) {
    const text = `variables.inherit is ${showValue(inherit)}. It can be ${INHERIT.join(", ")}.`;
    throw new ToolError("invalidArguments", "terminal", text);
  }
  const kept = matcher(keep);
  const inherited = inherit === "all" ? () => true : matcher(inherit === "core" ? [...CORE, ...keep] : []);
  const excluded = matcher(exclude);
  const included = includeOnly === undefined ? () => true : matcher(includeOnly);
  const seen: { [name: string]: string } = { PYTHONUNBUFFERED: "1" };
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (!kept(name)) {
      const secret = isSecretVariable(name, value) && !GIT_SETTING.test(name);
      if (secret) secrets.push(value);
      // Bash functions stand in the environment too, and may hold anything.
      if (secret || name.startsWith("BASH_FUNC_")) continue;
    }
    if (inherited(name) && !excluded(name) && included(name)) seen[name] = value;
  }
  const own = Object.entries(set).filter(([name]) => included(name));
  for (const [name, value] of [...Object.entries(QUIET), ...own, ...Object.entries(MARKER)]) {
    if (value === undefined) delete seen[name];
    else seen[name] = value;
  }
  delete seen[COMMAND];
  distrustBareRepositories(seen);
  const values = new Set(Object.values(seen));
  return { seen, secrets: secrets.filter((value) => !values.has(value)) };
}

/** The name of a setting of git. */
const GIT_SETTING = /^GIT_CONFIG_KEY_\d+$/;

/**
 * Whoever can write plain files can make a folder a bare repository (`HEAD`, `config`, `objects`, `refs`), whose settings name
 * programs: git must not take one that it only comes across. This is added to the settings that it finds in its variables.
 */
function distrustBareRepositories(seen: { [name: string]: string }): void {
  const count = Number(/^\d{1,9}$/.exec(seen.GIT_CONFIG_COUNT?.trim() ?? "")?.[0] ?? 0);
  seen[`GIT_CONFIG_KEY_${count}`] = "safe.bareRepository";
  seen[`GIT_CONFIG_VALUE_${count}`] = "explicit";
  seen.GIT_CONFIG_COUNT = String(count + 1);
}

const INHERIT: readonly unknown[] = ["all", "core", "none"];

/** Whether a name fits one of some patterns. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const all = patterns.map((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(/\*+/g, ".*")
      .replaceAll("?", ".");
    return new RegExp(`^${source}$`, "is");
  });
  return (name) => all.some((one) => one.test(name));
}

/** The variable that brings a command to its shell: not an argument, so that `pkill -f` does not find its own shell. */
export const COMMAND = "SHEDKIT_COMMAND";
