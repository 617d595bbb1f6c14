import { findReads } from "./find.js";
import { areOnlyFiles } from "./globs.js";

/** What is known of a command that reads files. */
export interface Reading {
  /** The files and folders that it reads, as its arguments name them: `~/x` is below the home folder. */
  reads: readonly string[];
  /** It does nothing else, whatever those hold. */
  only: boolean;
  /** That holds where commands begin: what other folders hold may make it do more. */
  isHere?: boolean | undefined;
}

/** The options that a command may have; with any other nobody knows what it does. */
interface Options {
  /** Letters without a value; digits too, as in `-20`. */
  flags?: string | undefined;
  /** Letters with a value. */
  values?: string | undefined;
  /** Letters with a value that is a file to read. */
  files?: string | undefined;
  /** Long names without a value, or with one after `=`. */
  long?: string | undefined;
  /** Long names with a value. */
  longValues?: string | undefined;
}

interface Given {
  operands: string[];
  files: string[];
  /** Letters and long names. */
  options: Set<string>;
}

type Known = (args: readonly string[]) => readonly string[] | undefined;

const DIGITS = "0123456789";
const CONTEXT = "after-context before-context context max-count regexp";
const GREP: Known = searching("r", {
  flags: `EFGPivwxcLlnHhoqsbaIzZrUTy${DIGITS}`,
  values: "eABCm",
  files: "f",
  long:
    "extended-regexp fixed-strings perl-regexp ignore-case invert-match word-regexp line-regexp count color colour " +
    "files-with-matches files-without-match line-number with-filename no-filename only-matching quiet no-messages recursive",
  longValues: `${CONTEXT} include exclude exclude-dir`,
});

/** Commands that only read what their operands name; `undefined` with options that may do more. */
const COMMANDS: { readonly [name: string]: Known } = {
  cat: files({ flags: "AbeEnstTuv", long: "number show-all number-nonblank show-ends squeeze-blank show-tabs" }),
  head: files({ flags: `qvz${DIGITS}`, values: "nc", long: "quiet verbose", longValues: "lines bytes" }),
  tail: files({ flags: `qvzr${DIGITS}`, values: "nc", long: "quiet verbose", longValues: "lines bytes" }),
  wc: files({ flags: "clmwL", long: "lines words bytes chars max-line-length" }),
  sort: files({
    ...{ flags: "bdfghiMnRrVcCumsz", values: "kt", longValues: "key field-separator" },
    long: "reverse numeric-sort human-numeric-sort version-sort unique ignore-case check stable",
  }),
  uniq: (args) => {
    const read = files({ flags: "cdDiuz", values: "fsw", long: "count repeated unique ignore-case" })(args);
    return read && read.length <= 1 ? read : undefined; // a second file is written
  },
  cut: files({ flags: "nsz", values: "bcdf", longValues: "bytes characters delimiter fields output-delimiter" }),
  tr: nothing({ flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1" }, /[\s\S]*/),
  ls: files(
    {
      flags: "1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ",
      long:
        "all almost-all human-readable color recursive reverse sort time full-time inode classify directory " +
        "group-directories-first time-style size",
    },
    ".",
  ),
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  // Not `-z`, which runs other programs, and not `-L`, which follows links out of the folder.
  rg: searching(undefined, {
    flags: `iSsvwxclnNHIoqUFPau0.p${DIGITS}`,
    values: "eABCmgtTrM",
    files: "f",
    long:
      "ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches files-with-matches " +
      "files-without-match line-number no-line-number heading no-heading hidden no-ignore multiline fixed-strings files " +
      "type-list stats json no-messages only-matching pcre2 vimgrep column",
    longValues: `${CONTEXT} glob iglob type type-not max-depth color sort sortr max-columns replace`,
  }),
  find: findReads,
  pwd: nothing({ flags: "LP" }),
  date: nothing({ flags: "uRI", long: "utc iso-8601 rfc-3339" }, /^\+/),
  whoami: nothing({}),
  hostname: nothing({ flags: "fsiIdA" }),
  uptime: nothing({ flags: "ps", long: "pretty since" }),
  echo: () => [],
  true: () => [],
  false: () => [],
  // An `e` without a dash shows what variables processes have.
  ps: (args) => (args.every((arg) => /^(?:-[AaefluwjxHLp]+|[auxwfjl]+|\d+(?:,\d+)*)$/.test(arg)) ? [] : undefined),
  git: gitReads,
  kubectl: ([verb = "", ...args]) => {
    const isKnown = /^(?:get|logs|describe)$/.test(verb) && !args.some((arg) => /secret|file/i.test(arg));
    return isKnown ? KUBECTL(args) : undefined;
  },
};

const KUBECTL = nothing(
  {
    ...{ flags: "Ap", values: "nlco" },
    long: "all-namespaces previous show-labels no-headers timestamps",
    longValues: "namespace selector container output tail since",
  },
  /[\s\S]*/,
);

const GIT_VERBS = new Set(
  "status log diff show blame ls-files ls-tree rev-parse rev-list describe shortlog merge-base".split(" "),
);
const GIT = files({
  flags: `psbvzrwuqclMCtaiek${DIGITS}`,
  values: "nSGLU",
  long:
    "oneline stat shortstat numstat name-only name-status cached staged graph all decorate color no-color pretty format " +
    "abbrev abbrev-commit short branch porcelain follow patch no-patch word-diff ignore-all-space show-toplevel " +
    "show-current abbrev-ref merges no-merges first-parent reverse date diff-filter since until after before author grep " +
    "max-count no-ext-diff no-textconv tags always dirty verify others exclude-standard modified deleted count is-inside-work-tree",
});
/** Verbs that change something as soon as they are given more than these. */
const GIT_LISTS: { readonly [verb: string]: RegExp } = {
  branch: /^(?:-[arv]+|--(?:all|remotes|list|show-current|verbose|no-color))$/,
  tag: /^(?:-l|--list)$/,
  remote: /^(?:-v|--verbose)$/,
  stash: /^list$/,
};

function gitReads(all: readonly string[]): readonly string[] | undefined {
  const [verb = "", ...args] = all[0] === "--no-pager" ? all.slice(1) : all;
  const lists = Object.hasOwn(GIT_LISTS, verb) ? GIT_LISTS[verb] : undefined;
  if (lists) {
    const needed = verb === "stash" ? args.length === 1 : true;
    return needed && args.every((arg) => lists.test(arg)) ? [] : undefined;
  }
  if (!GIT_VERBS.has(verb)) return undefined;
  // Revisions look like paths, which does no harm; of `HEAD:file` the file counts, since outside a repository paths do.
  return GIT(args)?.map((path) => path.slice(path.lastIndexOf(":") + 1) || ".");
}

/**
 * What a command reads, as far as its arguments tell; undefined where it is not known to only read.
 *
 * @param patterns Those of the words that the shell may make other words of.
 */
export function readingOf(name: string, args: readonly string[], patterns: ReadonlySet<string>): Reading | undefined {
  const isOpen = (arg: string) => patterns.has(arg) && /[*?[]/.test(arg);
  const words = args.map((word) => (word.startsWith("~") && !patterns.has(word) ? `./${word}` : word));
  if (name === "cd" || name === "pushd") {
    const [folder, ...more] = words.filter((arg) => !/^-[LPe@n]+$/.test(arg) && arg !== "--");
    if (folder === undefined) return { reads: ["~"], only: false };
    const isOther = more.length > 0 || /^[-+]/.test(folder); // where one was before: nobody knows
    return { reads: [isOther ? "~-" : folder], only: false };
  }
  const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const reads = known?.(words);
  if (!known || !reads) return undefined;
  // A repository in another folder has settings of its own, which name programs.
  const isHere = name === "git";
  return { reads: reads.filter((word) => word !== "-"), only: areOnlyFiles(name, words, known, isOpen), isHere };
}

/** All operands are files. */
function files(options: Options, otherwise?: string): Known {
  return (args) => {
    const given = parsed(args, options);
    if (!given) return undefined;
    const { operands } = given;
    return [...given.files, ...(operands.length === 0 && otherwise !== undefined ? [otherwise] : operands)];
  };
}

/** No operand is a file; all must look like that. Default: there is none. */
function nothing(options: Options, operand = /^(?!)/): Known {
  return (args) => (parsed(args, options)?.operands.every((word) => operand.test(word)) ? [] : undefined);
}

/**
 * The first operand is what is searched for, unless an option says it. With the option `recursive`, or always where there is
 * none, all that is in a folder is read: `src/**`.
 */
function searching(recursive: string | undefined, options: Options): Known {
  return (args) => {
    const given = parsed(args, options);
    if (!given) return undefined;
    const has = (...names: string[]) => names.some((name) => given.options.has(name));
    const operands = has("e", "f", "regexp", "files", "type-list") ? given.operands : given.operands.slice(1);
    const isDeep = recursive === undefined || has(recursive, "recursive");
    const places = operands.length === 0 && isDeep ? ["."] : operands;
    return [...given.files, ...(isDeep ? places.map((place) => `${place.replace(/\/+$/, "")}/**`) : places)];
  };
}

function parsed(args: readonly string[], options: Options): Given | undefined {
  const { flags = "", values = "", files = "" } = options;
  const [long, longValues] = [options.long?.split(" ") ?? [], options.longValues?.split(" ") ?? []];
  const given: Given = { operands: [], files: [], options: new Set() };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (arg === "--") {
      given.operands.push(...args.slice(i + 1));
      break;
    }
    if (arg === "-" || !arg.startsWith("-")) {
      given.operands.push(arg);
      continue;
    }
    if (arg.startsWith("--")) {
      const [name = ""] = arg.slice(2).split("=", 1);
      if (longValues.includes(name)) i += arg.includes("=") ? 0 : 1;
      else if (!long.includes(name)) return undefined;
      given.options.add(name);
      continue;
    }
    for (let at = 1; at < arg.length; at++) {
      const letter = arg[at] ?? "";
      given.options.add(letter);
      if (flags.includes(letter)) continue;
      if (!values.includes(letter) && !files.includes(letter)) return undefined;
      const value = arg.slice(at + 1) || (args[++i] ?? "");
      if (files.includes(letter)) given.files.push(value);
      break;
    }
  }
  return given;
}
