import type { AnyAgentSession } from "@shedkit/agent";
import type { DocumentStore, KeyValueStore } from "@shedkit/store";
import type { SessionId } from "@shedkit/types";

/** A session that is to be built. */
export interface OpenRequest {
  /** The store that it must use. */
  docStore: DocumentStore;
  /** The session to go on with, or to begin under this id. */
  sessionId: SessionId;
  /** The id of one of the served models; absent: the first. */
  model?: string | undefined;
}

/** A model that people can choose. */
export interface ServedModel {
  /** What requests name it by. */
  id: string;
  /** What people read. Default: the id. */
  name?: string | undefined;
}

/** The files of the web page; `loadPage` of `@shedkit/server/node` reads those that come with the package. */
export interface PageFiles {
  html: string;
  script: string;
  style: string;
}

/** What a server serves, and to whom. */
export interface ServerOptions {
  /** Builds a session, with its models, its tools and its permissions. The server ends it. */
  open(request: OpenRequest): Promise<AnyAgentSession>;
  /** Where the sessions are. Not closed by the server. */
  docStore: DocumentStore;
  /** What every request must bring; {@link newToken} makes one. */
  token: string;
  /** At least one; the first is taken where nobody chooses. */
  models: readonly ServedModel[];
  /** Keeps what people call their sessions, and the models they chose. Default: in memory. */
  notes?: KeyValueStore | undefined;
  /** What a list shows beside the title of a session, such as its folder. Default: nothing. */
  label?: ((session: SessionId) => Promise<string | undefined>) | undefined;
  /** Whether a session stands in lists: those of sub-agents are in the store too. Default: all do. */
  lists?: ((session: SessionId) => Promise<boolean>) | undefined;
  /** Deletes a session with all that belongs to it. Default: its log. */
  remove?: ((session: SessionId) => Promise<boolean>) | undefined;
  /** Absent: there is no page. */
  page?: PageFiles | undefined;
  /** Names and addresses under which requests may come, beside those of the loopback. Default: none. */
  hosts?: readonly string[] | undefined;
  limits?: Partial<ServerLimits> | undefined;
}

/** What a server takes at most; what is left out of `limits` is the default. */
export interface ServerLimits {
  /** Bytes of a request. Default: 20 MiB. */
  bodyBytes: number;
  /** Bytes that wait for a reader of events who is slow; then it is read on from the log. Default: 256 KiB. */
  readerBytes: number;
  /** Readers of events at a time, of all sessions. Default: 100. */
  readers: number;
  /** How often a quiet stream of events shows that it is there, in milliseconds. Default: 15,000. */
  heartbeatMs: number;
  /** How often a session that is not open here is looked at for what others wrote, in milliseconds. Default: 1,000. */
  pollMs: number;
  /** How long a session stays open when nothing is done in it, in milliseconds. Default: 10,000. */
  idleMs: number;
}

export const defaultLimits: ServerLimits = {
  bodyBytes: 20 * 1024 * 1024,
  readerBytes: 256 * 1024,
  readers: 100,
  heartbeatMs: 15_000,
  pollMs: 1_000,
  idleMs: 10_000,
};

/** A new random token: 256 bits, safe in a URL. */
export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
