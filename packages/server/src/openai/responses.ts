import type { AnyAgentSession } from "@shedkit/agent";
import { MemoryDocumentStore } from "@shedkit/store";
import { newId, newSessionId, type SessionId, type UserMessage } from "@shedkit/types";
import type { JsonObject } from "../body.js";
import { type Answered, answer, type Listener } from "./answer.js";
import type { OpenaiParts } from "./api.js";
import { openaiError, ParamError } from "./error.js";
import { type Brought, broughtMessages, systemMessage, userText } from "./messages.js";
import { booleanParam, modelParam, modelParams, refuseParams } from "./params.js";
import { pastTurn } from "./past-turn.js";
import { ResponseEvents } from "./response-events.js";
import { noResponse, type ResponseFacts, responseId, responseObject, turnOfResponse } from "./response-object.js";
import { seed } from "./seed.js";
import { streamed } from "./stream.js";

/** Responses: sessions that are kept, each response a turn; `previous_response_id` goes on behind any of them. */
export async function createResponse(body: JsonObject, signal: AbortSignal, parts: OpenaiParts): Promise<Response> {
  const model = modelParam(body, parts.models);
  refuseParams(body);
  const brought = inputOf(body, model);
  const previous = textParam(body, "previous_response_id");
  const instructions = textParam(body, "instructions");
  const params = modelParams(body, { maxTokens: ["max_output_tokens"] });
  const stream = booleanParam(body, "stream", false);
  const store = booleanParam(body, "store", true);
  if (previous !== undefined && !store) {
    throw new ParamError("store", "A response that goes on behind another one is kept with it: leave store out.");
  }
  if (instructions !== undefined) brought.history.unshift(systemMessage(instructions));
  const place = await placeOf({ previous, store, model, brought }, parts);

  const facts = (turnId: string): ResponseFacts => ({
    id: responseId(place.session, turnId),
    createdAt: Math.floor(Date.now() / 1000),
    ...{ model, previous, instructions, store, status: "in_progress", messageId: `msg_${newId()}` },
  });
  if (!stream) {
    let told: ResponseFacts | undefined;
    const answered = await place.use((session) => {
      for (const message of place.before) session.steer(message);
      return answer(session, brought.prompt, { params, signal }, undefined, (turnId) => {
        told = facts(turnId);
      });
    });
    if (answered.error) throw answered.error;
    const { text, usage } = answered;
    return Response.json(responseObject({ ...(told as ResponseFacts), status: "completed", text, usage }));
  }
  return streamed(async (write, left) => {
    let events: ResponseEvents | undefined;
    const listener: Listener = { text: (delta) => events?.text(delta), thinking: () => undefined };
    const run = (session: AnyAgentSession): Promise<Answered> => {
      for (const message of place.before) session.steer(message);
      return answer(session, brought.prompt, { params, signal: left }, listener, (turnId) => {
        events = new ResponseEvents(facts(turnId), write);
      });
    };
    try {
      const answered = await place.use(run);
      events?.end(answered);
    } catch (error) {
      const { message, code, param } = openaiError(error).error;
      write({ type: "error", sequence_number: 0, message, code, param }, "error");
    }
  }, signal);
}

/** A response that was made before, as the log has it. */
export async function storedResponse(id: string, { sessions }: OpenaiParts): Promise<Response> {
  const { session, turnId } = turnOfResponse(id, "response_id");
  const turn = await pastTurn(sessions.docStore, session, turnId);
  if (!turn) throw noResponse(id, "response_id");
  const { text, usage, model, at, failure, lastRecord } = turn;
  const ended = failure === undefined ? "completed" : "failed";
  return Response.json(
    responseObject({
      ...{ id, model, text, usage, store: true, status: ended, messageId: `msg_${lastRecord}` },
      createdAt: Math.floor(at / 1000),
      error: failure === undefined ? undefined : { code: "server_error", message: failure },
    }),
  );
}

/** Where a response is made. */
interface Place {
  session: SessionId;
  /** Said in front of the prompt. */
  before: readonly UserMessage[];
  use(work: (session: AnyAgentSession) => Promise<Answered>): Promise<Answered>;
}

async function placeOf(
  asked: { previous: string | undefined; store: boolean; model: string; brought: Brought },
  { sessions, open }: OpenaiParts,
): Promise<Place> {
  const { previous, store, model, brought } = asked;
  const use =
    (id: SessionId): Place["use"] =>
    (work) =>
      sessions.use(id, ({ session }) => work(session));
  if (previous !== undefined) {
    const before = brought.history.flatMap((message) => (message.type === "user" ? [message] : []));
    if (before.length < brought.history.length) {
      throw new ParamError("input", "With previous_response_id, input holds what the user says now and nothing else.");
    }
    const { session, turnId } = turnOfResponse(previous, "previous_response_id");
    const turn = await pastTurn(sessions.docStore, session, turnId);
    if (!turn) throw noResponse(previous, "previous_response_id");
    const here = turn.isLast ? session : await sessions.fork(session, turn.lastRecord);
    await sessions.setModel(here, model);
    return { session: here, before, use: use(here) };
  }
  if (store) {
    const session = sessions.create(model);
    await seed(sessions.docStore, session, brought.history);
    return { session, before: [], use: use(session) };
  }
  const docStore = new MemoryDocumentStore();
  const session = newSessionId();
  await seed(docStore, session, brought.history);
  return {
    session,
    before: [],
    use: async (work) => {
      const opened = await open({ docStore, sessionId: session, model });
      try {
        return await work(opened);
      } finally {
        await opened.end();
      }
    },
  };
}

function inputOf({ input }: JsonObject, model: string): Brought {
  if (typeof input === "string" && input.trim() !== "") return { history: [], prompt: userText(input) };
  if (Array.isArray(input)) return broughtMessages(input, "input", model);
  throw new ParamError("input", '"input" must be a text with something in it, or a list of messages.');
}

function textParam(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new ParamError(name, `"${name}" must be a text.`);
  return value;
}
