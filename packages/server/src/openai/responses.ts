import type { AnyAgentSession } from "@shedkit/agent";
import { MemoryDocumentStore } from "@shedkit/store";
import { newId, newSessionId, type SessionId, type UserMessage } from "@shedkit/types";
import type { JsonObject } from "../body.js";
import type { Sessions } from "../sessions.js";
import type { OpenaiContext } from "./api.js";
import { Asking } from "./asking.js";
import { ClientTools, clientToolsParam } from "./client-tools.js";
import { ParamError } from "./error.js";
import { type Brought, broughtMessages, systemMessage, userText } from "./messages.js";
import { booleanParam, modelParam, modelParams, outputParam, refuseParams } from "./params.js";
import { refuseOrphans } from "./parked.js";
import { pastTurn } from "./past-turn.js";
import { ResponseEvents } from "./response-events.js";
import {
  noResponse,
  type ResponseFacts,
  responseId,
  responseObject,
  turnOfResponse,
  withAnswer,
} from "./response-object.js";
import { seed } from "./seed.js";
import { streamed } from "./stream.js";

/** Responses: sessions that are kept, each response a turn; `previous_response_id` goes on behind any of them. */
export async function createResponse(body: JsonObject, signal: AbortSignal, parts: OpenaiContext): Promise<Response> {
  const model = modelParam(body, parts.models);
  refuseParams(body);
  const previous = textParam(body, "previous_response_id");
  const instructions = textParam(body, "instructions");
  const stream = booleanParam(body, "stream", false);
  const store = booleanParam(body, "store", true);
  const asking = await askingOf(body, { previous, instructions, store, model }, parts);
  const facts: ResponseFacts = {
    id: responseId(asking.sessionId, asking.id),
    createdAt: Math.floor(Date.now() / 1000),
    ...{ model, previous, instructions, store, status: "in_progress", messageId: `msg_${newId()}` },
  };
  if (!stream) {
    const answered = await parts.parked.answered(asking, signal);
    if (answered.error) throw answered.error;
    return Response.json(responseObject(withAnswer(facts, answered)));
  }
  return streamed(async (write, left) => {
    const events = new ResponseEvents(facts, write);
    try {
      events.end(await parts.parked.answered(asking, left, events));
    } catch (error) {
      events.broke(error);
    }
  }, signal);
}

/** A response that was made before, as the log has it. */
export async function storedResponse(id: string, { sessions }: OpenaiContext): Promise<Response> {
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

interface Asked {
  previous: string | undefined;
  instructions: string | undefined;
  store: boolean;
  model: string;
}

/** The answer that waits for the results in this request, or a new one. */
async function askingOf(body: JsonObject, asked: Asked, parts: OpenaiContext): Promise<Asking> {
  const { previous, instructions, store, model } = asked;
  const brought = inputOf(body, model);
  const params = modelParams(body, { maxTokens: ["max_output_tokens"] });
  const tools = new ClientTools(clientToolsParam(body), booleanParam(body, "parallel_tool_calls", true));
  const output = outputParam(body);
  const waiting = parts.parked.goOn(brought.results);
  if (waiting) return waiting;
  if (previous !== undefined && !store) {
    throw new ParamError("store", "A response that goes on behind another one is kept with it: leave store out.");
  }
  refuseOrphans(brought.results);
  if (instructions !== undefined) brought.history.unshift(systemMessage(instructions));
  const { before, session, leave } = await placeOf({ ...asked, brought }, parts);
  try {
    const asking = new Asking({ session, tools, output, params, leave });
    for (const message of before) session.steer(message);
    asking.start(brought.prompt);
    return asking;
  } catch (error) {
    await leave();
    throw error;
  }
}

/** Where a response is made. */
interface Place {
  session: AnyAgentSession;
  /** Said in front of the prompt. */
  before: readonly UserMessage[];
  leave(): Promise<void>;
}

async function placeOf(
  { previous, store, model, brought }: Asked & { brought: Brought },
  { sessions, open, parked }: OpenaiContext,
): Promise<Place> {
  if (previous !== undefined) {
    const before = brought.history.flatMap((message) => (message.type === "user" ? [message] : []));
    if (before.length < brought.history.length) {
      throw new ParamError("input", "With previous_response_id, input holds what the user says now and nothing else.");
    }
    const { session, turnId } = turnOfResponse(previous, "previous_response_id");
    const [waits] = parked.in(session)?.tools.calls ?? [];
    if (waits) throw new ParamError("input", `There is no result of the call "${waits.id}" of ${waits.name}.`);
    const turn = await pastTurn(sessions.docStore, session, turnId);
    if (!turn) throw noResponse(previous, "previous_response_id");
    const here = turn.isLast ? session : await sessions.fork(session, turn.lastRecord);
    await sessions.setModel(here, model);
    return { ...(await held(sessions, here)), before };
  }
  if (store) {
    const session = sessions.create(model);
    await seed(sessions.docStore, session, brought.history);
    return { ...(await held(sessions, session)), before: [] };
  }
  const docStore = new MemoryDocumentStore();
  const sessionId = newSessionId();
  await seed(docStore, sessionId, brought.history);
  const session = await open({ docStore, sessionId, model });
  return { session, before: [], leave: () => session.end() };
}

/** A kept session, open until it is let go of. */
function held(sessions: Sessions, id: SessionId): Promise<Omit<Place, "before">> {
  return new Promise((resolve, reject) => {
    const use = ({ session }: { session: AnyAgentSession }) =>
      new Promise<void>((release) => resolve({ session, leave: async () => release() }));
    sessions.use(id, use).catch(reject);
  });
}

function inputOf({ input }: JsonObject, model: string): Brought {
  if (typeof input === "string" && input.trim() !== "") return { history: [], prompt: userText(input), results: [] };
  if (Array.isArray(input)) return broughtMessages(input, "input", model);
  throw new ParamError("input", '"input" must be a text with something in it, or a list of messages.');
}

function textParam(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new ParamError(name, `"${name}" must be a text.`);
  return value;
}
