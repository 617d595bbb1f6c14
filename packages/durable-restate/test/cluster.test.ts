import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionRecord } from "@shedkit/types";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { newSchema } from "../../store-postgres/test/support/schema.js";
import { startPostgres } from "../../store-postgres/test/support/server.js";
import { durable } from "../src/index.js";
import { cluster, register, workerProgram } from "./cluster/cluster.js";
import { storyAgent } from "./cluster/story.js";
import { freeName, openStore, restate } from "./support/agent.js";
import { IMPATIENT, restateBinary, startRestate } from "./support/restate.js";

const there = inject("restate") !== undefined;
let program: Awaited<ReturnType<typeof workerProgram>> | undefined;
beforeAll(async () => {
  if (there) program = await workerProgram();
});
afterAll(() => program?.remove());

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").filter(Boolean) : [];
}

/** Looks again and again until there is something. The test's own time bounds it. */
async function eventually<T>(look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function all(records: AsyncIterable<SessionRecord>): Promise<SessionRecord[]> {
  const found: SessionRecord[] = [];
  for await (const record of records) found.push(record);
  return found;
}

const outcomes = (records: readonly SessionRecord[]) =>
  records.flatMap((record) => (record.type === "toolFinished" ? [record.outcome] : []));

/** A place for workers of one agent, and a client of it. */
async function place(database?: string, { ingress, admin } = restate()) {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-marks-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const url = database ?? (await newSchema());
  const name = freeName();
  const deployment = () => cluster(program?.file ?? "", [name, url, folder, ingress]);
  const machines = await deployment();
  const agent = durable({ name, agent: storyAgent(await openStore(url), folder, "0") });
  return {
    ...{ machines, deployment, client: agent.client({ ingress }) },
    register: ({ url }: { url: string }) => register(admin, url),
    marks: (name: string) => linesOf(join(folder, name)),
    go: () => appendFileSync(join(folder, "go"), "go"),
  };
}

describe.skipIf(!there)("workers that come and go", () => {
  it("keep a call waiting for leave that one of them asked for, and another gets", async () => {
    const { machines, client, register, marks } = await place();
    const first = await machines.start();
    await register(machines);
    const session = client.session("s");
    const answer = session.ask("Pay");
    const approvalId = await eventually(async () => (await session.pendingApprovals())[0]);
    await first.kill();
    await machines.start();
    await session.approve(approvalId, { type: "allow", scope: "once" });
    expect((await answer).text).toBe("Paid, says 1.");
    expect(marks("pay")).toHaveLength(1);
  });

  it("hear from anywhere what is said to a turn that one of them runs", async () => {
    const { machines, client, register, marks } = await place();
    await Promise.all([machines.start(), machines.start()]);
    await register(machines);
    const steered = client.session("steered");
    const aborted = client.session("aborted");
    const fast = steered.ask("Hold");
    const gone = aborted.ask("Hold");
    await eventually(() => marks("hold").length === 2);
    await Promise.all([steered.steer("Faster"), aborted.abort("enough")]);
    expect((await fast).text).toBe("Fast, says 1.");
    expect(await gone).toMatchObject({ type: "failed", error: { code: "cancelled" } });
    expect(outcomes(await all(aborted.records()))).toEqual(["cancelled"]);
  });

  it("take over from one that hangs, which writes nothing any more when it wakes", async () => {
    const impatient = await startRestate(restateBinary() as string, IMPATIENT);
    onTestFinished(() => impatient.stop());
    const { machines, client, register, marks, go } = await place(undefined, impatient);
    const workers = await Promise.all([machines.start(), machines.start()]);
    await register(machines);
    const session = client.session("s");
    const answer = session.ask("Hold");
    const [, pid] = (await eventually(() => marks("hold")[0])).split(" ");
    const hung = workers.find(({ process }) => process.pid === Number(pid));
    hung?.leave();
    hung?.process.kill("SIGSTOP");
    expect((await answer).text).toBe("Held, says 1.");
    const records = await all(session.records());
    expect(outcomes(records)).toEqual(["interrupted"]); // it is not idempotent: the model was told

    go();
    hung?.process.kill("SIGCONT");
    await eventually(() => marks("held").length === 1); // it goes on where it hung
    expect((await session.ask("Faster")).text).toBe("Fast, says 1.");
    const after = await all(session.records());
    expect(after.slice(0, records.length)).toEqual(records);
    expect(outcomes(after)).toEqual(["interrupted"]);
    expect(marks("hold")).toHaveLength(1);
  });

  it("finish what they began while others have new code", async () => {
    const { machines, deployment, client, register, go, marks } = await place();
    await machines.start("1");
    await register(machines);
    const old = client.session("old").ask("Hold");
    await eventually(() => marks("hold").length === 1);
    const newer = await deployment();
    await newer.start("2");
    await register(newer);
    expect((await client.session("new").ask("Faster")).text).toBe("Fast, says 2.");
    go();
    expect((await old).text).toBe("Held, says 1.");
  });

  it("go on with what others began with older code, where they take their place", async () => {
    const { machines, client, register, marks } = await place();
    const older = await machines.start("1");
    await register(machines);
    const session = client.session("s");
    const answer = session.ask("Hold");
    await eventually(() => marks("hold").length === 1);
    await machines.start("2");
    await older.kill();
    expect((await answer).text).toBe("Held, says 2.");
    expect(outcomes(await all(session.records()))).toEqual(["interrupted"]);
    expect(marks("hold")).toHaveLength(1);
  });

  it("go on with all turns after the database was restarted", async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const { machines, client, register, marks } = await place(postgres.url);
    await Promise.all([machines.start(), machines.start()]);
    await register(machines);
    const sessions = Array.from({ length: 10 }, (_, i) => client.session(`s${i}`));
    const answers = Promise.all(sessions.map((session) => session.ask("Tell it")));
    await eventually(() => marks("write").length >= 10);
    await postgres.restart();
    for (const { text } of await answers) expect(text).toContain("That was all, says 1.");
    expect(new Set(marks("write")).size).toBe(marks("write").length);
    for (const session of sessions) expect((await all(session.records())).at(-1)?.type).toBe("summary");
  });
});
