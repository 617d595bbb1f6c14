/** What the arguments of a command must be for it to change nothing; true: any. */
type Reading = true | ((args: readonly string[]) => boolean);

const words = (text: string) => new Set(text.split(" "));

/** Whatever their arguments are, they only read. */
const ALWAYS = words(
  "[ arch basename cat cd cksum cmp column comm cut df diff dir dirname du echo egrep expr factor false fgrep fold free getconf grep " +
    "groups head hexdump id jq join ls lsblk lscpu md5sum nl nproc numfmt od paste pathchk pgrep printenv printf ps pwd readlink realpath rev " +
    "seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep stat strings tac tail test tr true tsort tty type uname uptime vdir w wc " +
    "whereis which who whoami",
);
/** What they run is asked for as well, as a command of its own. */
const WRAPPERS = words("builtin command nice stdbuf time timeout xargs");
const SHELLS = words("ash bash dash ksh sh zsh");
const VERSIONS = words("bun cargo deno gcc git java javac make node npm php pip pip3 python python3 ruby rustc tsc");
const VERSION = /^(?:--version|-version|-v|-V)$/;

const GIT_READS = words(
  "blame cat-file check-ignore count-objects describe diff diff-files diff-index diff-tree for-each-ref grep log ls-files ls-remote " +
    "ls-tree merge-base name-rev rev-list rev-parse shortlog show show-branch show-ref status var version whatchanged",
);
/** Of these only some forms read. */
const GIT_FORMS: { readonly [verb: string]: Reading } = {
  branch: (args) =>
    args.every((arg) =>
      /^(?:-[arv]+|--(?:all|remotes|list|show-current|verbose|contains|merged|no-merged))$/.test(arg),
    ),
  config: (args) => /^(?:--get(?:-all|-regexp)?|--list|-l|get|list)$/.test(args[0] ?? ""),
  reflog: (args) => args.length === 0 || /^(?:show|-\w+|--\w.*)$/.test(args[0] ?? ""),
  remote: (args) => args.length === 0 || /^(?:-v|--verbose|get-url|show)$/.test(args[0] ?? ""),
  stash: (args) => args[0] === "list" || args[0] === "show",
  submodule: (args) => args[0] === "status",
  tag: (args) =>
    args.length === 0 || (/^(?:-l|--list)$/.test(args[0] ?? "") && !args.slice(1).some((arg) => /^-[^n]/.test(arg))),
  worktree: (args) => args[0] === "list",
};

/** What options must not be there: they write. Options that run other commands are not told of as commands at all. */
const without =
  (writes: RegExp): Reading =>
  (args) =>
    !args.some((arg) => writes.test(arg));
/** No more than so many arguments besides options: the next one is a file to write. */
const atMost =
  (files: number): Reading =>
  (args) =>
    args.filter((arg) => !/^-./.test(arg)).length <= files;

const SHOWS_DATE = /^(?:\+|-[uR]+$|-I|-[dr]$|--(?:utc|universal|date=|iso-8601|rfc-|reference=))/;

const SOME: { readonly [name: string]: Reading } = {
  awk: true,
  gawk: true,
  mawk: true,
  nawk: true,
  base64: without(/^(?:-[a-zA-Z]*o|--o)/),
  // A bare number sets the clock.
  date: (args) => args.every((arg, i) => SHOWS_DATE.test(arg) || /^-[dr]$/.test(args[i - 1] ?? "")),
  env: ([first = ""]) => !first.includes("="), // a variable may change what a command does
  fd: true,
  fdfind: true,
  file: without(/^(?:-[a-zA-Z]*C|--compile)/),
  find: true,
  git: gitReads,
  go: (args) => /^(?:version|env)$/.test(args[0] ?? "") && args.length === 1,
  hostname: (args) => args.every((arg) => /^-[AdfiIsy]+$/.test(arg)),
  // A configuration can name programs; the others write.
  kubectl: ([verb = "", ...args]) =>
    /^(?:get|logs|describe|explain|version|api-resources)$/.test(verb) &&
    !args.some((arg) => /^--(?:kube|cache-dir|profile|log-)/.test(arg)),
  rg: true,
  sed: without(/^(?:-[a-zA-Z]*i|--i)/),
  sort: without(/^(?:-[a-zA-Z]*o|--o)/),
  tree: without(/^(?:-[a-zA-Z]*[oR]|--output)/),
  uniq: atMost(1),
  xxd: (args) =>
    !args.some((arg) => /^-r/.test(arg)) && args.filter((arg) => !/^-./.test(arg) && !/^\d+$/.test(arg)).length <= 1,
};

/**
 * Whether a command is one that is known only to read. `target`: as the shell tool tells of it, one command with its
 * arguments, words in single quotes where they must be.
 */
export function onlyReads(target: string): boolean {
  const [name = "", ...args] = wordsOf(target);
  if (ALWAYS.has(name) || WRAPPERS.has(name)) return true;
  if (SHELLS.has(name)) return args[0] === "-c"; // what it says is told of by itself
  if (VERSIONS.has(name) && args.length === 1 && VERSION.test(args[0] ?? "")) return true;
  const reading = Object.hasOwn(SOME, name) ? SOME[name] : undefined;
  return typeof reading === "function" ? reading(args) : (reading ?? false);
}

function gitReads(args: readonly string[]): boolean {
  // Another repository's settings may name programs: no `-C`, no `--git-dir`.
  const at = args.findIndex(
    (arg) => !/^(?:--no-pager|-P|--no-optional-locks|--version|--literal-pathspecs)$/.test(arg),
  );
  const [verb, ...rest] = at < 0 ? [] : args.slice(at);
  if (verb === undefined) return true;
  // `--output` may be shortened.
  if (rest.some((arg) => /^--ou/.test(arg) || (verb === "archive" && /^-o/.test(arg)))) return false;
  if (GIT_READS.has(verb)) return true;
  const form = Object.hasOwn(GIT_FORMS, verb) ? GIT_FORMS[verb] : undefined;
  return typeof form === "function" && form(rest);
}

function wordsOf(target: string): string[] {
  const found = target.match(/'(?:[^']|'\\'')*'|\S+/g) ?? [];
  return found.map((word) => (word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word));
}
