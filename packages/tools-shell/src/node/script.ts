import { COMMAND } from "./environment.js";

// On one line: what a shell says of the command then speaks of line 1.
const oneLine = (lines: readonly string[]): string => lines.join(" ");

/** The last line of a state that was written to its end. */
export const STATE_END = "# end of the state";

const begin = [`__shedkit_command=$${COMMAND} __shedkit_state=$1 __shedkit_new=$2;`, `unset ${COMMAND}; set --;`];

const leave = (dump: string): string[] => [
  "__shedkit_leave() {",
  "  set +eux;",
  // Something that the command put there, a pipe that nobody reads perhaps.
  '  if [ -e "$__shedkit_new" ] || [ -h "$__shedkit_new" ]; then return; fi;',
  // What the command may have put in the place of these is not meant.
  `  { command pwd -P || command printf "%s\\n" "$PWD"; command printf "\\000"; unset __shedkit_command __shedkit_state __shedkit_new; ${dump}; command printf "\\n%s\\n" "${STATE_END}"; } > "$__shedkit_new" 2>/dev/null;`,
  "  __shedkit_new=;",
  "};",
];

// In a group whose errors go nowhere: a command's `set -x` must not show what is not its own.
// biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
const LEAVE = '{ [ -z "${__shedkit_new-}" ] || __shedkit_leave; } 2>/dev/null';

const go = (load: string): string[] => [
  'if [ -f "$__shedkit_state" ]; then',
  `  __shedkit_pwd=$PWD; ${load}; PWD=$__shedkit_pwd; unset __shedkit_pwd IFS;`,
  "fi;",
  `trap '${LEAVE}' EXIT;`,
  // The space: a command may begin with a dash, which would be an option.
  'eval " $__shedkit_command";',
  // An EXIT trap of the command stands in the place of the one above.
  `{ set -- "$?"; } 2>/dev/null; ${LEAVE}; command exit "$1"`,
];

const LOAD = '. "$__shedkit_state" >/dev/null 2>&1';

/**
 * Runs the command of {@link COMMAND} in bash: on the state in the file `$1`, if given, leaving a new one in the file `$2`,
 * if given: the folder, NUL, the state. It is written however the command ends, unless that replaces the shell, or sets an
 * EXIT trap and calls exit. Options (`set -e`) do not last, but for `extglob`, which functions may need.
 */
export const BASH_SCRIPT: string = oneLine([
  ...begin,
  ...leave(
    "trap - ERR DEBUG; unset -f __shedkit_leave; command declare -p; command declare -f; command alias -p; " +
      'if command shopt -q extglob; then command printf "%s\\n" __shedkit_extglob=1; fi',
  ),
  "shopt -s expand_aliases;",
  // A function may have patterns that cannot be read otherwise.
  ...go(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
    `shopt -s extglob; ${LOAD}; ${'[ -n "${__shedkit_extglob-}" ] || shopt -u extglob; unset __shedkit_extglob'}`,
  ),
]);

/** The same for a plain POSIX shell, which can keep exported variables only. */
export const SH_SCRIPT: string = oneLine([...begin, ...leave("command export -p"), ...go(LOAD)]);

/**
 * Kills the sessions of processes that are still on its list, and removes the folder `$1`, when its input ends: when the
 * program that started them is gone, however it went. Jobs of `set -m` are in groups of their own: where the system tells
 * (`/proc`), each process of such a session is looked up; twice, since one may start another meanwhile.
 */
export const WATCHDOG_SCRIPT: string = oneLine([
  "ids=' ';",
  "while read -r op id; do",
  '  case $op in +) ids="$ids$id " ;;',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
  '    -) p=" $id "; case $ids in *"$p"*) before=${ids%%$p*}; ids="$before ${ids#*$p}" ;; esac ;;',
  "  esac;",
  "done;",
  "folder=$1;",
  'for id in $ids; do kill -s KILL -- "-$id" 2>/dev/null; done;',
  'case $ids in *[0-9]*) looks="1 2" ;; *) looks= ;; esac;',
  "for look in $looks; do for stat in /proc/[0-9]*/stat; do",
  // A name may have anything in it, line ends and brackets too.
  '  all=; { while IFS= read -r part; do all="$all$part "; done < "$stat"; } 2>/dev/null;',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
  "  set -f; set -- ${all##*) }; set +f; pid=${stat#/proc/};",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
  '  case $ids in *" ${4:-none} "*) kill -s KILL "${pid%/stat}" 2>/dev/null ;; esac;',
  "done; done;",
  'rm -rf -- "$folder"',
]);
