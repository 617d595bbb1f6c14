import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { modelError } from "../error.js";

/** A token as text, or something that reveals it: an object that does not print it. */
export type HubToken = string | { reveal(): string };

/** Where and how a hub is asked, and where its files are kept. */
export interface HubSettings {
  /** Default: `https://huggingface.co`. */
  endpoint?: string | undefined;
  /** For repositories that want one. */
  token?: HubToken | undefined;
  /** The cache folder, in the layout that all Hugging Face tools share. Default: `~/.cache/huggingface/hub`. */
  cacheDir?: string | undefined;
  /** Nothing is asked of the network; the cache must have it. Default: false. */
  offline?: boolean | undefined;
  /** How requests are made, for proxies and the like. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  transfer?: TransferSettings | undefined;
}

/** How bytes are fetched. */
export interface TransferSettings {
  /** How many ranges of a file are fetched at once. Default: 4. */
  connections?: number | undefined;
  /** The length of a range: what a kill can cost, for each connection. Default: 16 MiB, more for files over 8 GiB. */
  partBytes?: number | undefined;
  /** A connection on which nothing comes for so long is given up and made again. Default: 30,000. */
  stallTimeoutMs?: number | undefined;
  /** The wait before the first retry; it doubles with each. `Retry-After` wins. Default: 500. */
  retryDelayMs?: number | undefined;
}

/** Settings with every default filled in. */
export interface Hub {
  endpoint: string;
  /** For people: `huggingface.co`. */
  host: string;
  token: string | undefined;
  cacheDir: string;
  offline: boolean;
  fetch: typeof fetch;
  transfer: { connections: number; partBytes: number | undefined; stallTimeoutMs: number; retryDelayMs: number };
}

/** Fills in the defaults. Throws `badReference` where the endpoint is no http address. */
export function hubOf(settings: HubSettings = {}, home: string = homedir()): Hub {
  const endpoint = (settings.endpoint ?? "https://huggingface.co").replace(/\/+$/, "");
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw modelError("badReference", `The hub's address "${endpoint}" (HF_ENDPOINT) is no http or https address.`);
  }
  const { connections = 4, partBytes, stallTimeoutMs = 30_000, retryDelayMs = 500 } = settings.transfer ?? {};
  return {
    endpoint,
    host: url.host,
    token: typeof settings.token === "object" ? settings.token.reveal() : settings.token,
    cacheDir: settings.cacheDir ?? join(home, ".cache", "huggingface", "hub"),
    offline: settings.offline ?? false,
    fetch: settings.fetch ?? fetch,
    transfer: { connections: Math.max(1, connections), partBytes, stallTimeoutMs, retryDelayMs },
  };
}

/**
 * The settings that the environment of a Hugging Face user holds: `HF_ENDPOINT`, `HF_TOKEN` (else the token that their
 * command line stored in `HF_TOKEN_PATH` or `HF_HOME/token`, read here), `HF_HUB_CACHE` (else `HF_HOME/hub`, with
 * `XDG_CACHE_HOME` as for their tools), `HF_HUB_OFFLINE`.
 */
export function hubSettingsFromEnv(
  env: { readonly [name: string]: string | undefined } = process.env,
  home: string = homedir(),
): HubSettings {
  const hfHome = set(env.HF_HOME) ?? join(set(env.XDG_CACHE_HOME) ?? join(home, ".cache"), "huggingface");
  const cacheDir = set(env.HF_HUB_CACHE) ?? set(env.HUGGINGFACE_HUB_CACHE) ?? join(hfHome, "hub");
  const token =
    set(env.HF_TOKEN) ??
    set(env.HUGGING_FACE_HUB_TOKEN) ??
    storedToken(set(env.HF_TOKEN_PATH) ?? join(hfHome, "token"));
  return {
    endpoint: set(env.HF_ENDPOINT),
    token: token === undefined ? undefined : secret(token),
    cacheDir: cacheDir.replace(/^~(?=$|[\\/])/, () => home),
    offline: /^(1|true|yes|on)$/i.test(env.HF_HUB_OFFLINE?.trim() ?? ""),
  };
}

// An empty variable counts as unset, as it does for Hugging Face's own tools.
function set(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === "" ? undefined : text;
}

function storedToken(path: string): string | undefined {
  try {
    return set(readFileSync(path, "utf8"));
  } catch {
    return undefined; // most people have none
  }
}

/** Prints and serialises as `[secret]`. */
function secret(token: string): { reveal(): string } {
  const hidden = () => "[secret]";
  return {
    reveal: () => token,
    ...{ toString: hidden, toJSON: hidden, [Symbol.for("nodejs.util.inspect.custom")]: hidden },
  };
}
