import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionRecord } from "@shedkit/types";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { newSchema } from "../../store-postgres/test/support/schema.js";
import { durable } from "../src/index.js";
import { cluster, register, type Worker, workerProgram } from "./cluster/cluster.js";
import { MARKS, storyAgent } from "./cluster/story.js";
import { freeName, openStore, restate } from "./support/agent.js";

const SESSIONS = Number(process.env.KILL_SESSIONS ?? 100);
const WORKERS = Number(process.env.KILL_WORKERS ?? 2);
const KILLS = Number(process.env.KILL_COUNT ?? 3);

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").filter(Boolean) : [];
}

/** The log is whole: each call has one result and came to one end, and the turn ended once. */
function checkLog(records: readonly SessionRecord[]): { ok: string[]; interrupted: number } {
  const calls: string[] = [];
  const results: string[] = [];
  const ended: string[] = [];
  const ok: string[] = [];
  let interrupted = 0;
  for (const record of records) {
    if (record.type === "conversation" && record.message.type === "assistant") {
      if (record.message.output.type === "toolCall") calls.push(record.message.output.id);
    } else if (record.type === "conversation" && record.message.type === "toolResult") {
      results.push(record.message.toolCallId);
    } else if (record.type === "toolFinished") {
      ended.push(record.toolCallId);
      if (record.outcome === "ok") ok.push(record.toolCallId);
      else if (record.outcome === "interrupted") interrupted++;
    }
  }
  expect([...results].sort()).toEqual([...calls].sort());
  expect([...ended].sort()).toEqual([...calls].sort());
  expect(records.filter(({ type }) => type === "summary" || type === "failedAction")).toHaveLength(1);
  expect(records.at(-1)?.type).toBe("summary");
  expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
  return { ok, interrupted };
}

describe.skipIf(inject("restate") === undefined)("workers that are killed all the time", () => {
  let program: Awaited<ReturnType<typeof workerProgram>>;
  beforeAll(async () => {
    program = await workerProgram();
  });
  afterAll(() => program.remove());

  it(`end every session with a whole log, and run nothing twice: ${SESSIONS} sessions, ${WORKERS} workers, ${KILLS} kills`, {
    timeout: 10 * 60_000 + SESSIONS * 6000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "shedkit-marks-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const database = await newSchema();
    const name = freeName();
    const { ingress, admin } = restate();
    const machines = await cluster(program.file, [name, database, folder, ingress]);
    const workers: Worker[] = await Promise.all(Array.from({ length: WORKERS }, () => machines.start()));
    await register(admin, machines.url);

    const store = await openStore(database);
    const client = durable({ name, agent: storyAgent(store, folder, "1") }).client({ ingress });
    const sessions = Array.from({ length: SESSIONS }, (_, i) => client.session(`session-${i}`));
    let over = false;
    const began = performance.now();
    const answers = Promise.all(sessions.map((session) => session.ask("Tell it"))).finally(() => {
      over = true;
    });
    answers.catch(() => undefined);
    // A kill whenever so many marks more are there: where they fall depends on no clock.
    const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
    const marks = () => (sizeOf("write") + sizeOf("look")) / "session-10 call_10\n".length;
    let kills = 0;
    while (!over && kills < KILLS) {
      if (marks() < ((kills + 1) * SESSIONS * MARKS) / (KILLS + 2)) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        continue;
      }
      const at = kills++ % WORKERS;
      await workers[at]?.kill();
      workers[at] = await machines.start();
    }
    for (const answer of await answers) expect(answer.text).toContain("That was all, says 1.");
    const seconds = (performance.now() - began) / 1000;

    const writes = linesOf(join(folder, "write"));
    const looks = new Set(linesOf(join(folder, "look")));
    expect(new Set(writes).size).toBe(writes.length); // none ran twice
    const ran = new Set(writes);
    let interrupted = 0;
    for (const session of sessions) {
      const records: SessionRecord[] = [];
      for await (const record of session.records()) records.push(record);
      const log = checkLog(records);
      interrupted += log.interrupted;
      for (const call of log.ok) {
        const mark = `${session.sessionId} ${call}`;
        expect(ran.has(mark) || looks.has(mark)).toBe(true); // what the log calls done has run
      }
    }
    expect(kills).toBeGreaterThanOrEqual(KILLS / 2); // else the kills came too late to show anything
    console.log(`${SESSIONS} sessions, ${kills} kills, ${interrupted} calls interrupted: ${seconds.toFixed(1)} s`);
  });
});
