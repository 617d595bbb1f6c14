import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "./exit.js";
import { PROVIDER_NAMES } from "./models/cloud-names.js";
import { RESTATE_PORT, type RestateOptions, restateOf, restateOptions, restateWanted } from "./restate/options.js";

/** What the command line asks for. */
export type Command =
  | { type: "help" }
  | { type: "version" }
  /** Shows every setting and where it came from; or what this machine can run. */
  | { type: "config" | "doctor"; options: RunOptions }
  /** Lists the sessions that were kept, those with words in them; or deletes one, or gives it a title. */
  | {
      type: "sessions";
      words: string;
      delete?: string | undefined;
      title?: { id: string; text: string } | undefined;
      /** Those of sub-agents, too. */
      all: boolean;
      options: RunOptions;
    }
  | ServeCommand
  | { type: "run"; options: RunOptions };

/** Sessions over HTTP, and a web page. */
export interface ServeCommand {
  type: "serve";
  options: RunOptions;
  host: string;
  /** 0: any that is free. */
  port: number;
  /** Present for a worker. */
  restate?: RestateOptions | undefined;
}

const DEFAULT_PORT = 4117;

export interface RunOptions {
  /** Absent: a prompt, or the question from standard input. */
  question?: string | undefined;
  /** A Hugging Face repo or a path; absent: the best that is configured. */
  model?: string | undefined;
  /** The folder that the tools may see; absent: the current one. */
  root?: string | undefined;
  /** Changes to files are made without asking. */
  yes: boolean;
  /** There are no tools that change files. */
  readOnly: boolean;
  /** Goes on with the newest session of the folder, or with the one whose id begins like this; the empty one: it is asked. */
  continue: boolean;
  resume?: string | undefined;
  /** The session is not kept. */
  noKeep: boolean;
  /** The answer and nothing else. */
  print: boolean;
  json: boolean;
  debug: boolean;
}

const known = {
  model: { type: "string", short: "m" },
  provider: { type: "string" },
  root: { type: "string", short: "r" },
  yes: { type: "boolean", short: "y" },
  "read-only": { type: "boolean" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "string" },
  "no-keep": { type: "boolean" },
  print: { type: "boolean", short: "p" },
  json: { type: "boolean" },
  debug: { type: "boolean" },
  all: { type: "boolean" },
  host: { type: "string" },
  port: { type: "string" },
  ...restateOptions,
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} satisfies ParseArgsConfig["options"];

/** Reads the arguments after the program's name. Throws UsageError. */
export function parseCommand(args: readonly string[]): Command {
  const { values, positionals, tokens } = parse(args);
  if (values.help) return { type: "help" };
  if (values.version) return { type: "version" };
  for (const name of ["model", "provider", "root", "host", "port"] as const) {
    if (values[name]?.trim() === "") throw new UsageError(`--${name} is empty; ${wanted[name]}`);
  }
  if (values.yes && values["read-only"]) throw new UsageError("--yes and --read-only exclude each other; give one");
  if (values.print && values.json) throw new UsageError("--print and --json exclude each other; give one");
  if (values.continue && values.resume !== undefined) {
    throw new UsageError("--continue and --resume exclude each other; give one");
  }
  if (values.provider !== undefined && !PROVIDER_NAMES.some((name) => name === values.provider)) {
    throw new UsageError(`there is no provider "${values.provider}"; ${wanted.provider}`);
  }
  const question = positionals.length === 0 ? undefined : positionals.join(" ").trim();
  if (question === "") throw new UsageError('the question is empty; ask something, e.g. "What is in README.md?"');
  const options: RunOptions = {
    question,
    model: values.provider === undefined ? values.model : `${values.provider}:${values.model ?? ""}`,
    root: values.root,
    yes: values.yes ?? false,
    readOnly: values["read-only"] ?? false,
    continue: values.continue ?? false,
    resume: values.resume,
    noKeep: values["no-keep"] ?? false,
    print: values.print ?? false,
    json: values.json ?? false,
    debug: values.debug ?? false,
  };
  const [first, ...rest] = positionals;
  const isWord = tokens.find(({ kind }) => kind !== "option")?.kind === "positional"; // not behind --
  if (isWord && first === "sessions") {
    const [verb, id = "", ...title] = rest;
    const sessions = { type: "sessions", words: "", all: values.all ?? false, options } as const;
    if (verb === "title" && title.length > 0) return { ...sessions, title: { id, text: title.join(" ") } };
    if (verb === "delete" && rest.length === 2) return { ...sessions, delete: id };
    return { ...sessions, words: rest.join(" ") };
  }
  if (values.all) throw new UsageError("--all belongs to answerme-agent sessions");
  const alone = isWord && positionals.length === 1;
  if (alone && first === "serve") {
    const restate = restateOf(values);
    const port = portOf(values.port, restate ? RESTATE_PORT : DEFAULT_PORT);
    return { type: "serve", options, host: values.host ?? "127.0.0.1", port, restate };
  }
  if (restateOf(values)) throw new UsageError("--restate belongs to answerme-agent serve");
  for (const name of ["host", "port"] as const) {
    if (values[name] !== undefined) throw new UsageError(`--${name} belongs to answerme-agent serve`);
  }
  return { type: alone && (first === "config" || first === "doctor") ? first : "run", options };
}

function portOf(text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port is "${text}"; ${wanted.port}`);
}

const wanted = {
  model:
    "name a Hugging Face GGUF repo (owner/repo, owner/repo:Q4_K_M), the path of a .gguf file, openai:MODEL or anthropic:MODEL",
  provider: `name one of ${PROVIDER_NAMES.join(", ")}`,
  root: "name the folder that the questions are about",
  host: "name the address to listen on, e.g. 127.0.0.1",
  port: "give a number up to 65535, 0 for any that is free",
  ...restateWanted,
} as const;

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: withWholeResume(args),
      options: known,
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
  } catch (error) {
    throw usageError(error);
  }
}

/** `--resume` may stand alone: what follows is its id only where it can be one. */
function withWholeResume(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, i) => {
    const next = args[i + 1];
    const isAlone = next === undefined || next.startsWith("-") || !/^[0-9a-z]+$/i.test(next);
    return arg === "--resume" && isAlone && (end < 0 || i < end) ? "--resume=" : arg;
  });
}

function usageError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  switch ((error as { code?: unknown }).code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION": {
      const named = /'(-[^' ]*)/.exec(error.message)?.[1] ?? "option";
      const near = nearest(named);
      const hint =
        near === undefined ? "see --help; a question that begins with - goes after --" : `did you mean ${near}?`;
      return new UsageError(`unknown option ${named}; ${hint}`);
    }
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE": {
      const name = /--([a-z-]+)/.exec(error.message)?.[1] ?? "";
      if (name in wanted) return new UsageError(`--${name} needs a value; ${wanted[name as keyof typeof wanted]}`);
      return new UsageError(`--${name} takes no value; see --help`);
    }
    default:
      return error;
  }
}

/** The option that an unknown one most likely means. */
function nearest(name: string): string | undefined {
  const typed = name.replace(/^-+/, "").toLowerCase();
  const option = Object.keys(known).find((option) => distance(option, typed) <= (typed.length > 3 ? 2 : 1));
  return option === undefined ? undefined : `--${option}`;
}

/** How many letters must be put in, left out or changed to make `b` of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
