import type { FinishReason, SessionId, Usage } from "@shedkit/types";
import type { Answered } from "./asking.js";
import type { ClientCall } from "./client-tools.js";
import { ParamError } from "./error.js";

/** A turn as the Responses API speaks of it. */
export interface ResponseFacts {
  id: string;
  /** In seconds since the epoch. */
  createdAt: number;
  model: string;
  status: "in_progress" | "completed" | "incomplete" | "failed";
  messageId: string;
  /** Absent: nothing was said yet. */
  text?: string | undefined;
  /** Those that the client is to run. */
  calls?: readonly ClientCall[] | undefined;
  /** Why it is incomplete. */
  reason?: string | undefined;
  usage?: Usage | undefined;
  error?: { code: string; message: string } | undefined;
  previous?: string | undefined;
  instructions?: string | undefined;
  store: boolean;
}

/** A response names its session and its turn, so that the next one can go on behind it. */
export function responseId(session: SessionId, turnId: string): string {
  return `resp_${session}_${turnId}`;
}

/** Throws ParamError where a text is no id of a response. */
export function turnOfResponse(id: string, param: string): { session: SessionId; turnId: string } {
  const parts = /^resp_(.+)_([^_~]+)(?:~\d+)?$/.exec(id); // a turn may come in parts, with calls of the client between
  if (!parts) throw noResponse(id, param);
  return { session: parts[1] as SessionId, turnId: parts[2] as string };
}

export function noResponse(id: string, param: string): ParamError {
  return new ParamError(param, `There is no response "${id}" here.`, { status: 404, code: "response_not_found" });
}

/** What is said of a response when its answer is there, or the part of it up to calls of the client. */
export function withAnswer(facts: ResponseFacts, { text, usage, calls, finish }: Answered): ResponseFacts {
  const said = { ...facts, usage, calls, text: text === "" && calls.length > 0 ? undefined : text };
  const reason = REASONS[finish];
  if (reason === undefined || calls.length > 0) return { ...said, status: "completed" };
  return { ...said, status: "incomplete", reason };
}

const REASONS: { readonly [finish in FinishReason]?: string } = {
  length: "max_output_tokens",
  contentFilter: "content_filter",
};

export function responseObject(facts: ResponseFacts): object {
  const { id, createdAt, model, status, text, calls = [], reason, usage, error, previous, instructions, store } = facts;
  return {
    ...{ id, object: "response", created_at: createdAt, status, model },
    output: [
      ...(text === undefined ? [] : [messageItem(facts, text, status === "failed" ? "incomplete" : status)]),
      ...calls.map((call) => callItem(call, "completed")),
    ],
    usage: usage === undefined ? null : responseUsage(usage),
    error: error ?? null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: instructions ?? null,
    metadata: {},
    parallel_tool_calls: true,
    previous_response_id: previous ?? null,
    store,
    temperature: null,
    tool_choice: "auto",
    tools: [],
    top_p: null,
  };
}

export function messageItem({ messageId }: ResponseFacts, text: string | undefined, status: string): object {
  const content = text === undefined ? [] : [textPart(text)];
  return { type: "message", id: messageId, status, role: "assistant", content };
}

export function callItem({ id, name, arguments: args }: ClientCall, status: "in_progress" | "completed"): object {
  const known = status === "completed" ? args : "";
  return { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: known, status };
}

export function textPart(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function responseUsage(usage: Usage): object {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}
