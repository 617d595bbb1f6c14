import {
  handlers as kinds,
  type ObjectContext,
  type ObjectSharedContext,
  object,
  RestatePromise,
  type VirtualObjectDefinition,
} from "@restatedev/restate-sdk";
import type { SessionItem } from "@shedkit/agent";
import { type Models, settingsOf } from "@shedkit/agent/internals";
import { AgenticError, type SessionId, type SessionRecord, toMessage } from "@shedkit/types";
import type { Told } from "./admin.js";
import { type DurableDefinition, serviceName } from "./definition.js";
import type { InboxHandlers } from "./inbox.js";
import { type CallState, LiveTurn, type Next } from "./live-turn.js";
import { FOR_EVER } from "./retry.js";
import type { AnyTurnRequest, InboxItem, LogPage, TurnReply, TurnRequest } from "./wire.js";

/** What Restate keeps of a session: how long its log was after the newest turn. */
type State = { seq: number };

export interface SessionHandlers {
  turn(ctx: ObjectContext<State>, request: AnyTurnRequest): Promise<TurnReply>;
  log(ctx: ObjectSharedContext<State>, range: { after: number } | { last: number }): Promise<LogPage>;
}

/** A page of a log. */
const PAGE_RECORDS = 500;
/** In characters; one record may be longer. Restate carries no message of more than 32 MiB, by its usual settings. */
const PAGE_LENGTH = 4_000_000;
const STEP_TIMEOUT_MS = 900_000;

/** What the turns of a process have in common. */
export interface ServingProcess {
  models: Models;
  /** What the service tells Restate beside what it is. */
  metadata?: Told | undefined;
  running?: Set<LiveTurn> | undefined;
}

/** A session as a virtual object: one turn at a time, whatever worker runs it. `show` sends on what it shows. */
export function sessionOf(
  definition: DurableDefinition,
  show: (sessionId: string, item: SessionItem) => void,
  process: ServingProcess,
): VirtualObjectDefinition<string, SessionHandlers> {
  const { stepTimeoutMs = STEP_TIMEOUT_MS } = definition;
  const { docStore } = settingsOf(definition.agent);
  const { metadata = {}, running, models } = process;
  const inbox = { name: `${serviceName(definition)}.inbox` };
  const session = object({
    name: serviceName(definition),
    metadata: { ...metadata },
    handlers: {
      async turn(ctx: ObjectContext<State>, asked: AnyTurnRequest): Promise<TurnReply> {
        const sessionId = ctx.key as SessionId;
        const { id: turnId, attemptCompletedSignal } = ctx.request();
        const request = requestOf(asked, turnId);
        if (!request) return { type: "refused", error: notAsked().toJSON() };
        const known = (await ctx.get("seq")) ?? 0;
        const base = await ctx.run("begin", () => lengthOf(sessionId));
        const refusal = refused(sessionId, base, known, request.mustExist);
        if (refusal) return { type: "refused", error: refusal.toJSON() };
        const turn = new LiveTurn({
          ...{ definition, models, sessionId, turnId, request, base },
          show: (item) => show(sessionId, item),
        });
        const letGo = () => void turn.abandon().finally(() => running?.delete(turn));
        running?.add(turn);
        attemptCompletedSignal.addEventListener("abort", letGo, { once: true });
        if (attemptCompletedSignal.aborted) letGo();
        const ears = ctx.objectClient<InboxHandlers>(inbox, ctx.key);
        const mouth = ctx.objectSendClient<InboxHandlers>(inbox, ctx.key);
        let awakeable = ctx.awakeable<InboxItem[]>();
        const said = await ears.open({ turnId, waiter: awakeable.id });
        turn.deliver(said);
        let news = false;
        const heard = (items: readonly InboxItem[]) => {
          news = true;
          said.push(...items);
          turn.deliver(items);
          awakeable = ctx.awakeable<InboxItem[]>();
          mouth.listen({ turnId, waiter: awakeable.id });
        };
        /** Waits for a step, and passes on what is said meanwhile. */
        const listening = async <T>(step: RestatePromise<T>): Promise<T> => {
          const done = step.map((value) => ({ value: value as T }));
          for (;;) {
            const first = await RestatePromise.race([done, awakeable.promise.map((items) => ({ items: items ?? [] }))]);
            if ("value" in first) return first.value;
            heard(first.items);
          }
        };
        for (let n = 1; ; n++) {
          const next = await listening(ctx.run(`model ${n}`, () => turn.advance()));
          if (next.type === "done") {
            const left = said.filter((item) => "message" in item && !next.stored.includes(item.message.id));
            mouth.close({ turnId, left });
            ctx.set("seq", next.seq);
            running?.delete(turn);
            return next.reply;
          }
          if (next.type === "calls") await runCalls(next);
        }

        async function runCalls({ calls }: Extract<Next, { type: "calls" }>): Promise<void> {
          let left = calls;
          for (let round = 1; left.length > 0; round++) {
            // What was heard while the others ran may be what these wait for.
            if (round > 1 && !news) heard(await awakeable.promise);
            news = false;
            const again = round === 1 ? "" : ` again ${round - 1}`;
            const running = left.map(({ id, name }) => ctx.run(`tool ${name} ${id}${again}`, () => turn.call(id)));
            const states: CallState[] = await listening(RestatePromise.all(running));
            left = left.filter((_, i) => states[i]?.type === "waits");
          }
        }
      },

      log: kinds.object.shared(
        async (ctx: ObjectSharedContext<State>, range: { after: number } | { last: number }): Promise<LogPage> => {
          const records: SessionRecord[] = [];
          let end = "after" in range ? range.after : 0;
          let length = 0;
          for await (const { seq, record } of docStore.read(ctx.key as SessionId, range)) {
            if (records.length === PAGE_RECORDS || length > PAGE_LENGTH) return { records, seq: end, more: true };
            length += JSON.stringify(record).length;
            records.push(record);
            end = seq;
          }
          return { records, seq: end, more: false };
        },
      ),
    },
    options: {
      inactivityTimeout: stepTimeoutMs,
      abortTimeout: 1000,
      retryPolicy: FOR_EVER,
    },
  });
  return session as unknown as VirtualObjectDefinition<string, SessionHandlers>;

  async function lengthOf(sessionId: SessionId): Promise<number> {
    for await (const { seq } of docStore.read(sessionId, { last: 1 })) return seq;
    return 0;
  }
}

/** The whole of what was asked; undefined where it asks nothing. */
function requestOf(asked: AnyTurnRequest | undefined, turnId: string): TurnRequest | undefined {
  const { prompt, options = {}, mustExist = false, output } = asked ?? ({} as AnyTurnRequest);
  const message = typeof prompt === "string" ? { ...toMessage(prompt), id: turnId } : prompt;
  if (message?.type !== "user") return undefined;
  return { prompt: message, options, mustExist, ...(output && { output }) };
}

function notAsked(): AgenticError {
  const text = 'A turn takes an object with a prompt, a text or a user message, such as { "prompt": "Hello" }.';
  return new AgenticError("session", text, { reason: "not a user message" });
}

function refused(sessionId: SessionId, base: number, known: number, mustExist: boolean): AgenticError | undefined {
  if (base < known) {
    const text = `This worker's store holds ${base} records of the session "${sessionId}", and a turn on another worker left ${known}: they do not share the store. Give every worker the same database.`;
    return new AgenticError("session", text, { reason: "store not shared" });
  }
  if (!mustExist || base > 0) return undefined;
  return new AgenticError("sessionNotFound", `There is no session "${sessionId}" in the store.`, { sessionId });
}
