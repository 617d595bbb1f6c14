import { MemoryDocumentStore, type SessionLease } from "@shedkit/store";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { AgenticError, type Message, type SessionId, type SessionRecord } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkValid, collect, readOnly, sessionOf, transcript } from "./helpers.js";

/** A store whose process dies at one append: before the write, or between the write and its answer. */
class DyingStore extends MemoryDocumentStore {
  #left: number;
  readonly #written: boolean;
  dead = false;
  constructor(appends: number, written: boolean) {
    super();
    this.#left = appends;
    this.#written = written;
  }
  override async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
    if (this.dead) throw gone();
    if (this.#left-- > 0) return super.append(lease, records);
    this.dead = true;
    if (this.#written) await super.append(lease, records);
    throw gone();
  }
}

function gone(): AgenticError {
  return new AgenticError("store", "The process is gone.", { store: "test", operation: "append" });
}

/** What a new process finds on the disk. */
async function revive(dead: MemoryDocumentStore, session: SessionId) {
  const records = (await collect(dead.read(session))).map(({ record }) => record);
  const store = new MemoryDocumentStore();
  const lease = await store.acquire(session);
  if (records.length > 0) await store.append(lease, JSON.parse(JSON.stringify(records)));
  await lease.release();
  return { store, records };
}

/** Leaves a mark for each run of a call. */
function markingTool(name: string, marks: string[]): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: {
        name,
        category: "test",
        description: "Marks.",
        arguments: { type: "object", properties: { fail: { type: "boolean" } } },
      },
    }),
    execute: async (args, ctx) => {
      marks.push(ctx.callId);
      return args.fail ? ToolCallResult.failure("failed as told") : ToolCallResult.text("done");
    },
  };
}

const call = fc.record({ tool: fc.constantFrom("write", "read"), fail: fc.boolean() });
const step = fc.record({
  text: fc.option(fc.constantFrom("Hm.", "Let me see."), { nil: undefined }),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
});
const story = fc.record({
  steps: fc.array(step, { maxLength: 4 }),
  killAt: fc.nat(40),
  written: fc.boolean(),
  /** Said when the n-th record is shown. */
  said: fc.array(fc.record({ at: fc.nat(20), steer: fc.boolean() }), { maxLength: 2 }),
});

describe("a session that is killed at any append", () => {
  it("resumes to a valid conversation with nothing lost and no finished call run again", async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ steps, killAt, written, said }) => {
        const marks: string[] = [];
        const tools = [markingTool("write", marks), readOnly(markingTool("read", marks))] as const;
        const answers = (index: number): ScriptedAnswer => {
          const made = steps[index];
          if (!made) return "The end.";
          const calls = made.calls.map(({ tool, fail }) => ({ call: tool, arguments: { fail } }));
          return made.text === undefined ? calls : [made.text, ...calls];
        };
        const dying = new DyingStore(killAt, written);
        const session = await sessionOf(new ScriptedProvider((_, index) => answers(index)), ...tools)
          .withDocStore(dying)
          .build();
        let shown = 0;
        for await (const item of session.runTurnStream("The question")) {
          if (item.type !== "record" || dying.dead) continue;
          shown++;
          for (const { at, steer } of said) {
            if (at !== shown) continue;
            if (steer) session.steer(`said at ${at}`);
            else session.followUp(`said at ${at}`);
          }
        }
        const { store, records } = await revive(dying, session.sessionId);
        const finished = new Set(
          records.flatMap((record) => (record.type === "toolFinished" ? [record.toolCallId] : [])),
        );
        const ran = new Map<string, number>();
        for (const id of marks) ran.set(id, (ran.get(id) ?? 0) + 1);

        const provider = new ScriptedProvider(() => "Back again.");
        const again = await sessionOf(provider, ...tools)
          .withDocStore(store)
          .withSessionId(session.sessionId)
          .build();
        const turn = await again.runTurn("Go on");
        expect(turn.failure).toBeUndefined();

        const sent = provider.requests[0]?.messages ?? [];
        checkValid(sent);
        expect(transcript(sent).at(-1)).toBe("user: Go on");
        const after = (await collect(store.read(session.sessionId))).map(({ record }) => record);
        expect(after.slice(0, records.length)).toEqual(JSON.parse(JSON.stringify(records)));
        // every message that was stored reaches the model once, queued or not
        const stored = records.flatMap((record) =>
          record.type === "queued" || (record.type === "conversation" && record.message.type === "user")
            ? [record.message as Message]
            : [],
        );
        for (const id of new Set(stored.map((message) => message.id))) {
          expect(sent.filter((message) => message.id === id)).toHaveLength(1);
        }
        for (const id of finished) expect(ran.get(id) ?? 0).toBeLessThanOrEqual(1);
        expect(marks).toHaveLength([...ran.values()].reduce((sum, n) => sum + n, 0)); // no call ran after the resume
        const before = new Map(
          records.flatMap((record) =>
            record.type === "conversation" && record.message.type === "toolResult"
              ? [[record.message.toolCallId, record.message] as const]
              : [],
          ),
        );
        for (const message of sent) {
          if (message.type === "toolResult" && before.has(message.toolCallId)) {
            expect(message).toEqual(JSON.parse(JSON.stringify(before.get(message.toolCallId))));
          }
        }
        // and a second resume changes nothing more
        await again.end();
        const third = await sessionOf(provider, ...tools)
          .withDocStore(store)
          .resume(session.sessionId)
          .build();
        expect(await collect(store.read(session.sessionId))).toHaveLength(after.length);
        await third.end();
      }),
      { numRuns: 60 },
    );
  });

  it("tells a call that did not start from one that may have taken effect", async () => {
    const results = async (appends: number) => {
      const dying = new DyingStore(appends, false);
      const session = await sessionOf(new ScriptedProvider([{ call: "write" }]), markingTool("write", []))
        .withDocStore(dying)
        .build();
      await session.runTurn("Hi");
      const { store } = await revive(dying, session.sessionId);
      const again = await sessionOf(new ScriptedProvider([]), markingTool("write", []))
        .withDocStore(store)
        .resume(session.sessionId)
        .build();
      return transcript(await collect(again.messages())).filter((line) => line.startsWith("write ->"));
    };
    const lines = await Promise.all([0, 1, 2, 3, 4].map((n) => results(n).catch(() => ["no session"])));
    expect(lines.flat().filter((line) => line.includes("did not run"))).toHaveLength(1);
    expect(lines.flat().filter((line) => line.includes("may have taken effect"))).toHaveLength(1);
  });
});
