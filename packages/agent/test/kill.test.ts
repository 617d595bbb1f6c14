import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ScriptedProvider } from "@shedkit/testing";
import type { SessionId, SessionRecord } from "@shedkit/types";
import { build } from "tsup";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkValid, collect, transcript } from "./helpers.js";
import { checkRuns, linesOf, random, tempFolder } from "./kill/checks.js";
import { killable, moments, type Place } from "./kill/parts.js";
import { startServer } from "./kill/servers.js";
import { storeKinds } from "./kill/stores.js";

const POINTS = Number(process.env.KILL_POINTS ?? 20);
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const AT_ONCE = 4;
/** How long a store may take to see that the holder of a session is dead. */
const LONGEST_LEASE_MS = 60_000;

/** The child as one program, made of the sources: it starts in a moment. */
async function program(): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), "shedkit-kill-"));
  await build({
    entry: [fileURLToPath(new URL("./kill/child.ts", import.meta.url))],
    outDir,
    format: ["esm"],
    platform: "node",
    noExternal: [/.*/],
    external: ["ajv", /^ajv\//, "ajv-formats"],
    esbuildOptions: (options) => {
      options.conditions = ["@shedkit/source"];
    },
    esbuildPlugins: [leaveOut(/^(@libsql\/client|classic-level|pg)$/)],
    ...{ silent: true, dts: false, config: false, clean: false },
  });
  await writeFile(join(outDir, "package.json"), '{"type":"module"}');
  return join(outDir, "child.js");
}

/** What has native code stays where it is, and is imported from there. */
function leaveOut(filter: RegExp): NonNullable<Parameters<typeof build>[0]["esbuildPlugins"]>[number] {
  return {
    name: "leave out",
    setup: ({ onResolve, resolve }) => {
      onResolve({ filter }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === "found") return undefined;
        const found = await resolve(path, { kind, resolveDir, pluginData: "found" });
        return { path: pathToFileURL(found.path).href, external: true };
      });
    },
  };
}

/** Runs the child; kills it `afterMs` after its turn began, or when it asks for it. Returns how long the turn took where it was left alone. */
async function run(child: ChildProcess, afterMs: number | undefined): Promise<number> {
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  let began = 0;
  let ended = 0;
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    if (line === "begins") {
      began = performance.now();
      if (afterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), afterMs);
    } else if (line === "now") child.kill("SIGKILL");
    else if (line === "ends") ended = performance.now();
  }
  expect((await exited) ?? 0).toBe(0); // it was killed, or it ended well
  expect(began).toBeGreaterThan(0);
  return ended - began;
}

/** Resumes what the killed process left, and checks it. True where the kill had cut a turn short. */
async function checkResume(place: Place): Promise<boolean> {
  const { folder, sessionId } = place;
  const provider = new ScriptedProvider([{ call: "write" }, "Back again.", "And this too.", "And that."]);
  const { builder, store, close } = await killable(place, provider);
  const id = sessionId as SessionId;
  const session = await builder.build({ waitMs: LONGEST_LEASE_MS });
  const records: SessionRecord[] = (await collect(store.read(id))).map(({ record }) => record);
  const stored = new Set(records.map((record) => record.id));
  const lost = linesOf(join(folder, "shown")).filter((line) => !stored.has(line.split(" ", 1)[0] ?? ""));
  expect(lost).toEqual([]);

  const turn = await session.runTurn("Go on");
  expect(turn.failure).toBeUndefined();
  for (const request of provider.requests) checkValid(request.messages);
  const said = transcript(provider.requests.at(-1)?.messages ?? []);
  expect(said).toContain("user: Go on");
  for (const record of records) {
    if (record.type !== "queued") continue;
    const [line = ""] = transcript([record.message]);
    expect(said.filter((other) => other === line)).toHaveLength(1);
  }
  checkRuns(folder, records);
  await session.end();
  await close();
  return records.length > 0 && records.every((record) => record.type !== "summary");
}

/** The calls that had started and not finished in a log. */
function runningIn(records: readonly SessionRecord[]): string[] {
  const running = new Set<string>();
  for (const record of records) {
    if (record.type === "toolStarted") running.add(record.toolCallId);
    else if (record.type === "toolFinished") running.delete(record.toolCallId);
  }
  return [...running];
}

/** Does the work, a few at once. */
async function atOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [i, item] of waiting) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

describe(`a process that is killed in the middle of a turn (KILL_SEED=${SEED})`, () => {
  let file = "";
  beforeAll(async () => {
    file = await program();
  });
  afterAll(() => rm(dirname(file), { recursive: true, force: true }));

  for (const kind of storeKinds) {
    it(`resumes with nothing lost and nothing run twice: ${kind}`, { timeout: 30 * 60_000 }, async () => {
      const { server, stop } = await startServer(kind);
      const start = ({ folder, sessionId }: Place) =>
        spawn(process.execPath, [file, kind, folder, sessionId, server], { stdio: ["ignore", "pipe", "inherit"] });
      const place = async (sessionId: string): Promise<Place> => ({
        kind,
        folder: await tempFolder(),
        sessionId,
        server,
      });
      const whole = [
        await run(start(await place("whole")), undefined),
        await run(start(await place("again")), undefined),
      ];
      const length = Math.min(...whole); // the machine may be busy
      const next = random(SEED);
      const kills = await Promise.all(
        Array.from({ length: POINTS }, async (_, i) => ({
          afterMs: next() * length,
          place: await place(`killed-${i}`),
        })),
      );
      await atOnce(kills, ({ place, afterMs }) => run(start(place), afterMs));
      const cutShort = (await atOnce(kills, ({ place }) => checkResume(place))).filter(Boolean).length;
      expect(cutShort).toBeGreaterThan(POINTS / 4); // else the kills came too late to show anything
      await stop();
    });

    it(`resumes also where it was killed around what a tool does, and within an append: ${kind}`, {
      timeout: 30 * 60_000,
    }, async () => {
      const { server, stop } = await startServer(kind);
      const points = moments.flatMap((moment) => [2, 5].map((number) => ({ moment, number })));
      await atOnce(points, async ({ moment, number }) => {
        const folder = await tempFolder();
        const sessionId = `${moment}-${number}`;
        const args = [file, kind, folder, sessionId, server, moment, `${number}`];
        await run(spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] }), undefined);
        const place = { kind, folder, sessionId, server };
        const { store, close } = await killable(place, new ScriptedProvider([]));
        const records = (await collect(store.read(sessionId as SessionId))).map(({ record }) => record);
        await close();
        const marked = new Set(linesOf(join(folder, "marks")));
        const running = runningIn(records);
        if (moment === "beforeEffect") expect(running.some((id) => !marked.has(id))).toBe(true);
        if (moment === "afterEffect") expect(running.some((id) => marked.has(id))).toBe(true);
        expect(await checkResume(place)).toBe(true);
      });
      await stop();
    });
  }
});
