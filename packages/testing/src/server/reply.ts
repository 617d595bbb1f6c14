import type { JsonValue } from "@shedkit/types";
import type { Gate } from "../gate.js";
import type { ScriptedAnswer } from "../scripted-answer.js";
import type { WireBody, WireName } from "./wire.js";

/** A request that the server got. */
export interface ReceivedRequest {
  /** From 1. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** By the end of the path; absent for other paths. */
  readonly wire?: WireName | undefined;
  readonly body: WireBody;
  /** Resolves when the exchange is over: the client left before the end, or it did not. */
  readonly over: Promise<"answered" | "left">;
}

/** What an exchange sends, other than a scripted answer on the wire of its request. */
export type ServerReply = {
  /** Default: 200. */
  status?: number | undefined;
  headers?: { [name: string]: string } | undefined;
  /** Bytes a write. Default: as few writes as possible. */
  split?: number | undefined;
  /** The connection breaks after so many bytes of the body; -1: before any header. */
  cutAfter?: number | undefined;
  /** The body ends, in good order, after so many bytes. */
  endAfter?: number | undefined;
  /** After the event that makes it so many bytes nothing more comes, and the connection stays open. */
  stallAfter?: number | undefined;
  /** While it waits at a gate or stalls, keep-alive comments or pings go out every so many milliseconds. */
  pingEveryMs?: number | undefined;
  /** Nothing is sent before the gate opens. */
  wait?: Gate | undefined;
  /** Does not look for what the real API would refuse. Default: false. */
  unchecked?: boolean | undefined;
} & (
  | { answer: ScriptedAnswer }
  /** A recorded stream: one JSON event an element, framed for the wire of the request. */
  | { events: readonly string[] }
  /** The wire's error body; with a status it is the whole response. */
  | { error: { code: string; message: string } }
  /** A body of JSON. */
  | { json: JsonValue }
  /** A body as it stands. */
  | { body: string }
);

/** What a request gets: a scripted answer, or a reply with its own transport. */
export type ServerAnswer = ScriptedAnswer | ServerReply;

/** Tells a reply from a scripted answer. */
export function isReply(answer: ServerAnswer): answer is ServerReply {
  return (
    typeof answer === "object" &&
    !Array.isArray(answer) &&
    ("answer" in answer || "events" in answer || "error" in answer || "json" in answer || "body" in answer)
  );
}
