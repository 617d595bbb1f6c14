import { COMMAND } from "./environment.js";

/** Variables that belong to one shell, or that a shell sets itself. */
const OWN =
  "PWD|OLDPWD|SHLVL|_|PPID|UID|EUID|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS|RANDOM|SRANDOM|SECONDS|LINENO|EPOCH*|BASH*|" +
  "SHELLOPTS|HISTCMD|COLUMNS|LINES|IFS|__shedkit_*";

// On one line: what a shell says of the command then speaks of line 1.
const oneLine = (lines: readonly string[]): string => lines.join(" ");

/**
 * Runs the command of {@link COMMAND} in bash: on what the state file `$1` holds, leaving the new state there if `$2`
 * is 1. The state is written however the command ends, unless it replaces the shell or sets an EXIT trap and exits.
 * Options (`set -e`) do not last.
 */
export const BASH_SCRIPT: string = oneLine([
  `__shedkit_command=$${COMMAND} __shedkit_state=$1 __shedkit_save=$2;`,
  `unset ${COMMAND}; set --;`,
  "__shedkit_leave() {",
  "  set +eux; trap - EXIT ERR DEBUG;",
  '  if [ "$__shedkit_save" != 1 ]; then return; fi;',
  "  __shedkit_save=0;",
  '  { pwd -P > "$__shedkit_state.cwd.new" && command mv -f "$__shedkit_state.cwd.new" "$__shedkit_state.cwd"; } 2>/dev/null;',
  "  IFS=$' \\t\\n';",
  "  {",
  "    for __shedkit_name in $(compgen -v); do",
  `      case $__shedkit_name in ${OWN}) ;;`,
  '        *) declare -p "$__shedkit_name" ;;',
  "      esac;",
  "    done;",
  "    unset -f __shedkit_leave; declare -f; alias -p;",
  '  } > "$__shedkit_state.env.new" 2>/dev/null',
  '  && command mv -f "$__shedkit_state.env.new" "$__shedkit_state.env" 2>/dev/null;',
  "};",
  "shopt -s expand_aliases;",
  'if [ -n "$__shedkit_state" ] && [ -f "$__shedkit_state.env" ]; then . "$__shedkit_state.env" >/dev/null 2>&1; fi;',
  "trap __shedkit_leave EXIT;",
  'eval "$__shedkit_command"',
]);

/** The same for a plain POSIX shell, which can keep exported variables and aliases only. */
export const SH_SCRIPT: string = oneLine([
  `__shedkit_command=$${COMMAND} __shedkit_state=$1 __shedkit_save=$2;`,
  `unset ${COMMAND}; set --;`,
  "__shedkit_leave() {",
  "  set +eux; trap - EXIT;",
  '  if [ "$__shedkit_save" != 1 ]; then return; fi;',
  "  __shedkit_save=0;",
  '  { pwd -P > "$__shedkit_state.cwd.new" && command mv -f "$__shedkit_state.cwd.new" "$__shedkit_state.cwd"; } 2>/dev/null;',
  '  export -p > "$__shedkit_state.env.new" 2>/dev/null',
  '  && command mv -f "$__shedkit_state.env.new" "$__shedkit_state.env" 2>/dev/null;',
  "};",
  "__shedkit_folder=$(pwd -P);",
  'if [ -n "$__shedkit_state" ] && [ -f "$__shedkit_state.env" ]; then . "$__shedkit_state.env" >/dev/null 2>&1; fi;',
  'cd "$__shedkit_folder";',
  "trap __shedkit_leave EXIT;",
  'eval "$__shedkit_command"',
]);

/**
 * Kills the process groups that are still on its list, and removes the folder `$1`, when its input ends: when the
 * program that started them is gone, however it went.
 */
export const WATCHDOG_SCRIPT: string = oneLine([
  "ids=' ';",
  "while read -r op id; do",
  '  case $op in +) ids="$ids$id " ;;',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
  '    -) p=" $id "; case $ids in *"$p"*) before=${ids%%$p*}; ids="$before ${ids#*$p}" ;; esac ;;',
  "  esac;",
  "done;",
  'for id in $ids; do kill -s KILL -- "-$id" 2>/dev/null; done;',
  'rm -rf -- "$1"',
]);
