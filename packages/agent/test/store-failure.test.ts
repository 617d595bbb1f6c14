import { ToolShed } from "@shedkit/shed";
import { MemoryDocumentStore, type SessionLease } from "@shedkit/store";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import { AgenticError, type SessionRecord } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { collect, echoTool, sessionOf } from "./helpers.js";

/** Fails at the n-th append, and from then on. */
class FailingStore extends MemoryDocumentStore {
  left: number;
  constructor(appends: number) {
    super();
    this.left = appends;
  }
  override async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
    if (this.left-- <= 0) throw new AgenticError("store", "The disk is full.", { store: "test", operation: "append" });
    return super.append(lease, records);
  }
}

describe("a store that fails", () => {
  it.each([0, 1, 2, 3, 4])(
    "after %i appends ends the turn with its error, shown once, and no later record",
    async (n) => {
      const docStore = new FailingStore(n);
      const provider = new ScriptedProvider([{ call: "echo", arguments: { text: "a" } }, "Done."]);
      const session = await sessionOf(provider, echoTool()).withDocStore(docStore).build();
      const stream = session.runTurnStream("Hi");
      const events = await collect(stream.events());
      expect(events.filter((event) => event.type === "failed" || event.type === "done")).toMatchObject([
        { type: "failed", error: { code: "store" } },
      ]);
      expect((await stream.done()).failure).toMatchObject({ code: "store" });
      const stored = (await collect(docStore.read(session.sessionId))).length;
      docStore.left = 100;
      // what the store holds is not known to the session: it has to be read again
      expect((await session.runTurn("Hi")).failure).toMatchObject({
        code: "store",
        message: expect.stringMatching(/^The disk is full\. .*built again by its id/),
      });
      expect(await collect(docStore.read(session.sessionId))).toHaveLength(stored);
      await session.end();
      const again = await sessionOf(new ScriptedProvider(["Back."]), echoTool())
        .withDocStore(docStore)
        .withSessionId(session.sessionId)
        .build();
      expect((await again.ask("Hi")).text).toBe("Back.");
    },
  );

  it("while a session is built ends what its tools had begun to run, and lets go of the log", async () => {
    const docStore = new FailingStore(100);
    const log: string[] = [];
    const echo = new FnTool("echo", "Says it.", { type: "object" }, async () => {
      docStore.left = 0; // its result cannot be stored, and the call stays open
      return "said";
    });
    const shed = new ToolShed()
      .tool(echo)
      .pin("echo")
      .scheduler(() => {
        log.push("start");
        return () => void log.push("stop");
      });
    const build = (answers: ScriptedAnswer[]) =>
      sessionOf(new ScriptedProvider(answers)).withToolshed(shed).withDocStore(docStore).withSessionId("s").build();
    const session = await build([{ call: "echo" }]);
    await session.runTurn("Hi");
    await session.end();
    await expect(build([])).rejects.toMatchObject({ code: "store" });
    expect(log).toEqual(["start", "stop", "start", "stop"]);
    docStore.left = 100;
    const again = await build(["Back."]);
    expect((await again.ask("Hi")).text).toBe("Back.");
    await again.end();
  });
});
