/** Options by which a command runs another one, changes files although it is known for reading, or loads what does. */
interface Opaque {
  /** With one dash: single letters, also within a cluster such as `-xzI`. */
  letters?: string | undefined;
  /** Whole words, such as the options of `find`. */
  words?: readonly string[] | undefined;
  /** With two dashes; every beginning of them counts, since programs complete what is begun. */
  long?: readonly string[] | undefined;
  /** Anything else that its arguments tell. */
  also?: ((args: readonly string[]) => boolean) | undefined;
}

const AWK: Opaque = {
  letters: "fiElD",
  long: ["file", "exec", "include", "load", "debug"],
  also: (args) => args.some((arg) => /[|>@]|system|getline/.test(arg)),
};
const PAGED: Opaque = { long: ["pager"] };
const COMPARES: Opaque = { letters: "o", long: ["diff-program", "output"] };
const FD: Opaque = { letters: "xX", long: ["exec", "exec-batch"] };
/** Variables that change what other commands run. */
const STEERING =
  "(?:PATH|LD_\\w+|DYLD_\\w+|BASH_ENV|ENV|IFS|PROMPT_COMMAND|GIT_\\w+|NODE_OPTIONS|\\w*(?:PAGER|EDITOR))";
const STEERED = new RegExp(`^${STEERING}\\+?=`);
const NAMED = new RegExp(`^(?:-\\w+?)?${STEERING}$`);

// They look a variable up by its name, and what stands in its index is run.
const NAMES: Opaque = { also: (args) => args.some((arg) => /[$`]/.test(arg)) };
/** They set the variables that they are given the names of. */
const SETS: Opaque = { also: (args) => args.some((arg) => /[$`]/.test(arg) || NAMED.test(arg)) };
const VARIABLES: Opaque = { also: (args) => args.some((arg) => /[$`]/.test(arg) || STEERED.test(arg)) };
/** A second file is written. */
const second = (args: readonly string[]): boolean => args.filter((arg) => !/^-.|^\d+$/.test(arg)).length > 1;

const COMMANDS = new Map<string, Opaque>(
  Object.entries({
    alias: { also: (args) => args.some((arg) => arg.includes("=")) },
    compgen: { letters: "CF" },
    enable: { letters: "f" },
    history: { letters: "aw" },
    hash: { letters: "p" },
    find: {
      words: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls".split(" "),
    },
    fd: FD,
    fdfind: FD,
    ack: { long: ["pager", "output"] },
    ag: PAGED,
    bat: PAGED,
    batcat: PAGED,
    delta: PAGED,
    diff3: COMPARES,
    git: { also: gitRuns },
    kubectl: { long: ["kubeconfig", "kuberc"] },
    rg: { long: ["pre", "hostname-bin"] },
    sort: { letters: "o", long: ["compress-program", "output"] },
    sdiff: COMPARES,
    split: { long: ["filter"] },
    shuf: { letters: "o", long: ["output"] },
    tree: { letters: "oR", long: ["output"] },
    uniq: { also: second },
    xxd: { letters: "r", also: second },
    file: { letters: "C", long: ["compile"] },
    tar: {
      letters: "IF",
      long: "to-command checkpoint-action use-compress-program info-script new-volume-script rsh-command rmt-command".split(
        " ",
      ),
      also: ([first = ""]) => /^\w*[IF]/.test(first),
    },
    zip: { words: ["-TT"], long: ["unzip-command"] },
    rsync: { letters: "e", long: ["rsh", "rsync-path"] },
    scp: { letters: "SoD" },
    sftp: { letters: "SoDB" },
    man: { letters: "PH", long: ["pager", "html"] },
    awk: AWK,
    gawk: AWK,
    mawk: AWK,
    nawk: AWK,
    sed: { also: sedRuns },
    test: NAMES,
    "[": NAMES,
    printf: SETS,
    read: SETS,
    unset: SETS,
    let: NAMES,
    wait: SETS,
    getopts: SETS,
    mapfile: { letters: "C", ...SETS },
    readarray: { letters: "C", ...SETS },
    declare: VARIABLES,
    typeset: VARIABLES,
    local: VARIABLES,
    export: VARIABLES,
    readonly: VARIABLES,
  } satisfies { [name: string]: Opaque }),
);

/** True where a command can be given such options, by its name without folders. */
export function canBeOpaque(name: string): boolean {
  return COMMANDS.has(name);
}

/** True where a command may do more than its name tells: run another one, change files, change what names mean. */
export function isOpaque(name: string, args: readonly string[]): boolean {
  const opaque = COMMANDS.get(name);
  if (!opaque) return false;
  const { letters = "", words = [], long = [], also } = opaque;
  return (
    args.some((arg) => {
      if (words.includes(arg)) return true;
      if (!arg.startsWith("--")) return arg.startsWith("-") && [...arg].some((letter) => letters.includes(letter));
      const option = arg.slice(2).split("=", 1)[0] ?? "";
      return option !== "" && long.some((name) => name.startsWith(option));
    }) ||
    (also?.(args) ?? false)
  );
}

const GIT_RUNS = new Set("difftool mergetool filter-branch instaweb daemon send-email hook".split(" "));
const GIT_LONG =
  "exec exec-path config-env upload-pack receive-pack open-files-in-pager ext-diff extcmd textconv config template output".split(
    " ",
  );

function gitRuns(args: readonly string[]): boolean {
  let at = 0;
  for (; args[at]?.startsWith("-"); at++) {
    const option = args[at] ?? "";
    if (option.startsWith("-c") || option.startsWith("--con") || option.startsWith("--exec")) return true;
    if (option.startsWith("--git-dir")) return true; // its settings name programs
    if (option === "-C" || option === "--work-tree" || option === "--namespace") at++;
  }
  const [verb = "", ...rest] = args.slice(at);
  if (GIT_RUNS.has(verb)) return true;
  if (verb === "config") return !rest.some((arg) => /^(?:--get(?:-all|-regexp)?|--list|-l|get|list)$/.test(arg));
  if (verb === "bisect" && rest[0] === "run") return true;
  if (verb === "submodule" && rest.includes("foreach")) return true;
  const short = { clone: "cu", grep: "O", rebase: "xi", "ls-remote": "u", archive: "o" }[verb] ?? "";
  return rest.some((arg) => {
    if (arg.startsWith("ext::")) return true;
    if (!arg.startsWith("--")) return arg.startsWith("-") && [...arg].some((letter) => short.includes(letter));
    const option = arg.slice(2).split("=", 1)[0] ?? "";
    return option.length > 1 && GIT_LONG.some((name) => name.startsWith(option));
  });
}

/** What can be read of sed's own language: lines shown or left out by number, and replacements. */
const SED =
  /^(?:(?:\d+|\$)(?:,(?:\d+|\$))?[pdq]|s([/|#,])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpI\d]*)$/;

function sedRuns(args: readonly string[]): boolean {
  const scripts: string[] = [];
  let given = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (/^-[nErsuz]+$/.test(arg) || arg === "--quiet" || arg === "--silent" || arg === "--posix") continue;
    if (/^-[nErsuz]*e$/.test(arg)) {
      scripts.push(args[++i] ?? "");
      given = true;
    } else if (arg.startsWith("-") && arg !== "-") return true;
    else if (!given) {
      scripts.push(arg);
      given = true;
    }
  }
  return scripts.some((script) => !SED.test(script));
}
