import { setTimeout as sleep } from "node:timers/promises";
import { AgenticError } from "@shedkit/types";
import { cancelled, innermostMessage, modelError, systemCode } from "../error.js";
import type { Hub } from "./settings.js";

/** What a request is about, for the text of its errors. */
export interface Subject {
  repo: string;
  revision?: string | undefined;
}

const RETRIED = new Set([408, 429, 500, 502, 503, 504]);
/** The machine has no way to the hub; trying again at once would only make people wait. */
const NO_WAY = new Set(["ENOTFOUND", "ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EAI_AGAIN"]);
const ATTEMPTS = 5;
const LONGEST_WAIT_MS = 60_000;

/**
 * The `fetch` that the hub's client is given: it ends on abort and on a connection gone silent, tries again what may
 * pass, and turns what is left into errors that say what to do. An answer of "no such file" is passed on.
 */
export function hubFetch(hub: Hub, subject: Subject, signal: AbortSignal | undefined): typeof fetch {
  return async (input, init) => {
    for (let attempt = 1; ; attempt++) {
      const error = await request(hub, subject, signal, input, init);
      if (error instanceof Response) return error;
      if (!error.retryable || attempt === ATTEMPTS) throw error;
      await backOff(hub, attempt, error, signal);
    }
  };
}

async function request(
  hub: Hub,
  subject: Subject,
  signal: AbortSignal | undefined,
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<Response | AgenticError> {
  const silence = AbortSignal.timeout(hub.transfer.stallTimeoutMs);
  const headers = authorized(hub, input, init?.headers);
  let response: Response;
  try {
    response = await hub.fetch(input, {
      ...init,
      headers,
      signal: signal ? AbortSignal.any([signal, silence]) : silence,
    });
  } catch (error) {
    return networkError(hub, error, signal);
  }
  try {
    if (response.ok || response.headers.get("X-Error-Code") === "EntryNotFound") {
      return await usable(hub, response, new Headers(init?.headers).has("Range"));
    }
    return await refusal(hub, subject, response);
  } catch (error) {
    return networkError(hub, error, signal);
  }
}

/** The headers of a request, with the token where it goes to the hub itself: other hosts must not see it. */
export function authorized(hub: Hub, input: string | URL | Request, given?: HeadersInit): Headers {
  const headers = new Headers(given);
  const url = input instanceof Request ? input.url : input;
  if (hub.token !== undefined && new URL(url).origin === new URL(hub.endpoint).origin) {
    headers.set("Authorization", `Bearer ${hub.token}`);
  }
  return headers;
}

/** Reads the answer whole (all are small here), and refuses what is not the hub's: the page of a login or a proxy. */
async function usable(hub: Hub, response: Response, ranged: boolean): Promise<Response | AgenticError> {
  const json = /json/i.test(response.headers.get("Content-Type") ?? "");
  if (ranged) {
    await response.body?.cancel(); // only its headers are wanted
    if (response.status === 200 && !json) return notTheHub(hub, "it does not serve parts of files");
    return response;
  }
  if (!json) {
    await response.body?.cancel();
    return notTheHub(hub, `it answered with ${response.headers.get("Content-Type") ?? "data of no type"}`);
  }
  const { status, headers } = response;
  return new Response(await response.arrayBuffer(), { status, headers });
}

/** The error about an answer that is not a hub's. */
export function notTheHub(hub: Hub, why: string, cause?: unknown): AgenticError {
  return modelError(
    "notTheHub",
    `${hub.endpoint} does not answer like a Hugging Face hub: ${why}. Is there a login page or a proxy in between? Is HF_ENDPOINT right?`,
    { cause },
  );
}

/** What a failed `fetch` means. */
export function networkError(hub: Hub, error: unknown, signal: AbortSignal | undefined): AgenticError {
  if (signal?.aborted) return cancelled(signal, "The download was stopped; what has arrived is kept.");
  if (AgenticError.is(error)) return error;
  const code = systemCode(error) ?? (error instanceof Error && error.name === "TimeoutError" ? "timeout" : undefined);
  const why = code ?? innermostMessage(error);
  return modelError(
    "unreachable",
    `${hub.host} could not be reached (${why}). Check the network or HF_ENDPOINT; a model that is in the cache, or a path to a .gguf file, needs neither.`,
    { cause: error, retryable: code === undefined || !NO_WAY.has(code) },
  );
}

/** What an answer that is no success means. */
export async function refusal(hub: Hub, { repo, revision }: Subject, response: Response): Promise<AgenticError> {
  const { status, headers } = response;
  const code = headers.get("X-Error-Code") ?? "";
  const said = headers.get("X-Error-Message") ?? (await messageIn(response));
  const page = `${hub.endpoint}/${repo}`;
  if (code === "GatedRepo") {
    return auth(
      hub.token === undefined
        ? `${repo} is gated: accept its terms at ${page}, then set HF_TOKEN to a token of your account.`
        : `${repo} is gated and your token has no access: accept its terms at ${page} with the same account.`,
      status,
    );
  }
  if (status === 401 && hub.token !== undefined && code !== "RepoNotFound") {
    return auth(`${hub.host} does not accept your token (HF_TOKEN): it may be mistyped or revoked.`, status);
  }
  if (code === "RevisionNotFound") {
    return modelError("revisionNotFound", `${repo} has no revision "${revision ?? "main"}"; see ${page}.`, { status });
  }
  if (status === 401 || status === 404) {
    const also = hub.token === undefined ? "If it is private, set HF_TOKEN." : "Your token may have no access to it.";
    return modelError("repoNotFound", `There is no model ${repo} on ${hub.host}: check the spelling. ${also}`, {
      status,
    });
  }
  if (status === 403) return auth(`${hub.host} does not let you have ${repo}${said && `: ${said}`}.`, status);
  const retryAfterMs = waitOf(headers.get("Retry-After"));
  const what = status === 429 ? "asks to slow down" : "failed";
  return modelError("hubError", `${hub.host} ${what} (${status}${said && `: ${said}`}). Try again later.`, {
    status,
    retryable: RETRIED.has(status),
    retryAfterMs,
  });
}

function auth(message: string, status: number): AgenticError {
  return new AgenticError("auth", message, { provider: "huggingface" }, { status });
}

async function messageIn(response: Response): Promise<string> {
  if (!/json/i.test(response.headers.get("Content-Type") ?? "")) {
    await response.body?.cancel();
    return "";
  }
  const body: unknown = await response.json().catch(() => undefined);
  const message = typeof body === "object" && body !== null && "error" in body ? body.error : undefined;
  return typeof message === "string" ? message.slice(0, 300) : "";
}

function waitOf(header: string | null): number | undefined {
  const seconds = header === null ? Number.NaN : Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** Waits before try number `attempt + 1`. Throws the error where the hub asks for a longer wait than anyone has. */
export async function backOff(
  hub: Hub,
  attempt: number,
  error: AgenticError,
  signal: AbortSignal | undefined,
): Promise<void> {
  const wait = error.retryAfterMs ?? hub.transfer.retryDelayMs * 2 ** (attempt - 1);
  if (wait > LONGEST_WAIT_MS) throw error;
  await sleep(wait, undefined, signal ? { signal } : {}).catch(() => {
    throw networkError(hub, error, signal);
  });
}
