import type { JsonValue, SessionRecord, Usage } from "@shedkit/types";

/** A session as the server lists it. */
export interface SessionEntry {
  id: string;
  title?: string;
  label?: string;
  updatedAt: number;
  records: number;
  running: boolean;
  model: string;
  parent?: { session: string };
}

export interface ModelEntry {
  id: string;
  name: string;
}

export interface ToolEntry {
  name: string;
  category: string;
  description: string;
  active: boolean;
}

export interface Hit {
  name: string;
  category: string;
  description: string;
  score: number;
}

export interface TurnCost {
  turnId: string;
  at: number;
  model: string;
  steps: number;
  usage: Usage;
}

export interface Stored {
  seq: number;
  record: SessionRecord;
}

export interface Attachment {
  name: string;
  mediaType: string;
  data: string;
}

/** An answer of the server that is an error. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`/api${path}`, {
      method,
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, "The server does not answer. Is it still running?");
  }
  const text = await response.text();
  const value = text === "" ? {} : JSON.parse(text);
  if (!response.ok) throw new ApiError(response.status, value.error?.message ?? response.statusText);
  return value as T;
}

const at = (id: string) => `/sessions/${encodeURIComponent(id)}`;

/** What the page asks of the server. */
export const api = {
  login: (token: string) => call("POST", "/login", { token }),
  models: () => call<{ models: ModelEntry[] }>("GET", "/models"),
  list: (text: string, cursor?: string) =>
    call<{ items: SessionEntry[]; cursor?: string }>(
      "GET",
      `/sessions?${new URLSearchParams({ ...(text && { text }), ...(cursor && { cursor }) })}`,
    ),
  create: (model?: string) => call<SessionEntry>("POST", "/sessions", model ? { model } : {}),
  info: (id: string) => call<SessionEntry>("GET", at(id)),
  change: (id: string, change: { title?: string; model?: string }) => call<SessionEntry>("PATCH", at(id), change),
  remove: (id: string) => call("DELETE", at(id)),
  fork: (id: string) => call<SessionEntry>("POST", `${at(id)}/fork`, {}),
  records: (id: string, last: number, before?: number) =>
    call<{ records: Stored[] }>("GET", `${at(id)}/records?last=${last}${before ? `&before=${before}` : ""}`),
  ask: (id: string, text: string, files: readonly Attachment[]) => call("POST", `${at(id)}/ask`, { text, files }),
  steer: (id: string, text: string) => call("POST", `${at(id)}/steer`, { text }),
  followUp: (id: string, text: string) => call("POST", `${at(id)}/follow-up`, { text }),
  abort: (id: string) => call("POST", `${at(id)}/abort`, {}),
  approve: (
    id: string,
    approval: string,
    decision: "once" | "always" | "deny",
    said: { reason?: string; answer?: JsonValue } = {},
  ) => call("POST", `${at(id)}/approvals/${encodeURIComponent(approval)}`, { decision, ...said }),
  tools: (id: string) => call<{ tools: ToolEntry[] }>("GET", `${at(id)}/tools`),
  search: (id: string, query: string) =>
    call<{ hits: Hit[] }>("GET", `${at(id)}/tools?${new URLSearchParams({ query, limit: "8" })}`),
  usage: (id: string) => call<{ turns: TurnCost[]; total: Usage }>("GET", `${at(id)}/usage`),
  exportUrl: (id: string, format: "markdown" | "jsonl") => `/api${at(id)}/export?format=${format}`,
  eventsUrl: (id: string, after: string) => `/api${at(id)}/events?${new URLSearchParams({ after })}`,
};
