import { readFileSync } from "node:fs";
import { MemoryDocumentStore } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import type { SessionId, SessionRecord } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { checkValid, echoTool, sessionOf, transcript } from "./helpers.js";

/** A log as the first version wrote it, with a record of each type. It must load for ever. */
const records = readFileSync(new URL("./fixtures/log-v1.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as SessionRecord);

describe("a log of format 1", () => {
  it("has a record of every type", () => {
    expect([...new Set(records.map((record) => record.type))].toSorted()).toEqual([
      "activated",
      "approvalDecided",
      "approvalRequested",
      "compaction",
      "conversation",
      "deactivated",
      "dequeued",
      "failedAction",
      "forkedFrom",
      "modelSwitched",
      "observation",
      "queued",
      "reflection",
      "retracted",
      "step",
      "summary",
      "toolFinished",
      "toolStarted",
      "toolState",
      "workingMemory",
    ]);
  });

  it("loads: the conversation, the tools, the model, what is queued, what was remembered", async () => {
    const docStore = new MemoryDocumentStore();
    const lease = await docStore.acquire("s" as SessionId);
    await docStore.append(lease, records);
    await lease.release();
    const provider = new ScriptedProvider(["Back."]);
    const session = await sessionOf(provider, echoTool())
      .withFallbackModels(["spare"])
      .withDocStore(docStore)
      .resume("s")
      .build();
    expect((await session.ask("Go on")).text).toBe("Back.");
    const [request] = provider.requests;
    checkValid(request?.messages ?? []);
    expect(transcript(request?.messages ?? [])).toEqual([
      "system: Summary of the conversation so far:\nThey echoed.",
      "user: And now?",
      "call echo",
      expect.stringContaining("echo -> The call was interrupted"),
      "user: Waiting since then",
      "user: Go on",
      "system: Working memory:\n- blue\n\nReflections:\n- calm\n\nObservations:\n- later",
    ]);
    expect(request?.tools.activations).toMatchObject([{ name: "echo" }]);
    expect(session.usage.total).toBeGreaterThan(60);
  });
});
