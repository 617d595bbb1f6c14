import { UsageError } from "../exit.js";

/** As one worker of many, on a Restate server. */
export interface RestateOptions {
  /** The server's ingress. */
  ingress: string;
  /** Its admin interface; undefined: the worker is registered by somebody else. */
  admin: string | undefined;
  /** A PostgreSQL. */
  store: string | undefined;
  /** `volume`, or `worker:NAME`. */
  workspace: string | undefined;
  /** The agent's, in Restate. */
  name: string;
  /** Of what it is made of. Default: the program's version. */
  release: string | undefined;
  /** How Restate reaches the worker. */
  url: string | undefined;
  force: boolean;
}

/** For `parseArgs`. */
export const restateOptions = {
  restate: { type: "string" },
  "restate-admin": { type: "string" },
  store: { type: "string" },
  workspace: { type: "string" },
  name: { type: "string" },
  release: { type: "string" },
  url: { type: "string" },
  force: { type: "boolean" },
} as const;

export type RestateValues = {
  [name in keyof typeof restateOptions]?:
    | ((typeof restateOptions)[name]["type"] extends "string" ? string : boolean)
    | undefined;
};

/** What their values are to be, for errors. */
export const restateWanted = {
  restate: "give the address of Restate's ingress, e.g. http://127.0.0.1:8080",
  "restate-admin": 'give the address of Restate\'s admin interface, e.g. http://127.0.0.1:9070, or "none"',
  store: "give the address of the PostgreSQL of all workers, e.g. postgres://user@host/database",
  workspace:
    'say where the folder is: "volume" where every worker has it at the same place, "worker:NAME" where only workers started with that name have it',
  name: "name the agent, with letters, digits, _ and -",
  release: "name the release, e.g. 2",
  url: "give the address at which Restate reaches the worker, e.g. http://workers.internal:9080",
} as const;

/** Where Restate's admin interface is beside its ingress, unless its settings say otherwise. */
const ADMIN_PORT = "9070";
export const RESTATE_PORT = 9080;

/** Undefined without `--restate`. Throws UsageError. */
export function restateOf(values: RestateValues): RestateOptions | undefined {
  const names = Object.keys(restateWanted) as (keyof typeof restateWanted)[];
  for (const name of names) {
    if (values[name]?.trim() === "") throw new UsageError(`--${name} is empty; ${restateWanted[name]}`);
  }
  const { restate, name = "answerme", store, workspace, release, url, force = false } = values;
  if (restate === undefined) {
    const alone = [...names, "force" as const].find((name) => values[name] !== undefined);
    if (alone !== undefined) throw new UsageError(`--${alone} belongs to answerme-agent serve --restate`);
    return undefined;
  }
  for (const name of ["restate", "url"] as const) {
    const text = values[name];
    if (text !== undefined && !isAddress(text)) throw new UsageError(`--${name} is "${text}"; ${restateWanted[name]}`);
  }
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) throw new UsageError(`--name is "${name}"; ${restateWanted.name}`);
  const admin = adminOf(values["restate-admin"], restate);
  return { ingress: restate, admin, store, workspace, name, release, url, force };
}

function adminOf(given: string | undefined, ingress: string): string | undefined {
  if (given === "none") return undefined;
  if (given !== undefined) {
    if (isAddress(given)) return given;
    throw new UsageError(`--restate-admin is "${given}"; ${restateWanted["restate-admin"]}`);
  }
  const url = new URL(ingress);
  url.port = ADMIN_PORT;
  return url.origin;
}

function isAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}
