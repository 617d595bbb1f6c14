import { readdirSync, readFileSync } from "node:fs";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { shellTools } from "@shedkit/tools-shell";
import { NodeTerminal } from "@shedkit/tools-shell/node";
import type { SessionId } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { checkValid, collect, transcript } from "./helpers.js";
import { checkRuns, random, tempFolder } from "./kill/checks.js";
import { killable, type Place } from "./kill/parts.js";
import { startServer } from "./kill/servers.js";
import { storeKinds } from "./kill/stores.js";

const POINTS = Number(process.env.KILL_POINTS ?? 20);
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
/** How a turn is broken off. */
const WAYS = ["abort", "signal", "leave", "steer", "end"] as const;
/** In the command line of every process that the sessions start. */
const MARK = `shedkit-abort-${process.pid}`;

/** Six steps that write and run commands, then an answer; once it was left, an answer. */
function story(left: () => boolean): ScriptedProvider {
  const command = `sleep 0.02 # ${MARK}`;
  const bash = { call: "bash", arguments: { command, description: "Waits" } };
  return new ScriptedProvider((_, index): ScriptedAnswer => {
    if (left() || index >= 6) return "That was all.";
    return ["Let me see. ", { call: "write" }, ...(index % 2 === 0 ? [bash, { call: "read" }] : [])];
  });
}

/** Processes that sessions of this test started, by their command lines, and all children of this process. */
function processes(): string[] {
  const read = (path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return ""; // it has just ended
    }
  };
  const children = readdirSync("/proc/self/task").flatMap((task) =>
    read(`/proc/self/task/${task}/children`).split(" ").filter(Boolean),
  );
  const marked = readdirSync("/proc").filter((pid) => Number(pid) && read(`/proc/${pid}/cmdline`).includes(MARK));
  return [...new Set([...children, ...marked])].map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`)}`);
}

/** What is in `now` and was not in `before`, each as often as it is more. */
function more(now: readonly string[], before: readonly string[]): string[] {
  const left = [...before];
  return now.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** One turn, broken off `afterMs` after its start, and another behind it. Returns how long it took. */
async function once(
  place: Place,
  afterMs: number | undefined,
  way: (typeof WAYS)[number],
): Promise<{ ms: number; cut: boolean }> {
  let left = false;
  const provider = story(() => left);
  const terminal = new NodeTerminal({ cwd: place.folder });
  const { builder, store, close } = await killable(place, provider, { more: shellTools(terminal) });
  let session = await builder.build();
  const controller = new AbortController();
  const began = performance.now();
  const stream = session.runTurnStream("The question", { signal: controller.signal });
  const items = stream[Symbol.asyncIterator]();
  let over = false;
  let cut = false;
  const leave = () => {
    left = true;
    cut = !over;
    if (way === "abort") session.abort();
    else if (way === "signal") controller.abort();
    else if (way === "leave") void items.return?.();
    else if (way === "steer") session.steer("Faster");
    else void session.end();
  };
  const timer = afterMs === undefined ? undefined : setTimeout(leave, afterMs);
  const turn = await stream.done();
  over = true;
  clearTimeout(timer);
  const ms = performance.now() - began;
  if (way === "steer") expect(turn.failure).toBeUndefined();
  else if (turn.failure) expect(turn.failure.code).toBe("cancelled");

  if (way === "end") {
    await session.end();
    session = await builder.build();
  }
  left = true;
  expect((await session.runTurn("Go on")).failure).toBeUndefined();
  for (const request of provider.requests) checkValid(request.messages);
  expect(transcript(provider.requests.at(-1)?.messages ?? []).at(-1)).toBe("user: Go on");
  const records = (await collect(store.read(place.sessionId as SessionId))).map(({ record }) => record);
  const stored = new Set(records.map((record) => record.id));
  for (const record of turn.records) expect(stored).toContain(record.id);
  checkRuns(place.folder, records);
  await session.end();
  await terminal.dispose();
  await close();
  return { ms, cut };
}

// Children are told by /proc.
describe.skipIf(process.platform !== "linux")(`a turn that is aborted at any moment (KILL_SEED=${SEED})`, () => {
  for (const kind of storeKinds) {
    it(`leaves a conversation that goes on, and no handle and no process: ${kind}`, {
      timeout: 30 * 60_000,
    }, async () => {
      const { server, stop } = await startServer(kind);
      let sessions = 0;
      const place = async (): Promise<Place> => ({
        ...{ kind, server },
        folder: await tempFolder(),
        sessionId: `s${++sessions}`,
      });
      await once(await place(), undefined, "abort"); // what is loaded once
      let { ms } = await once(await place(), undefined, "abort");
      const [handles, others] = [process.getActiveResourcesInfo(), processes()];
      const next = random(SEED);
      let cut = 0;
      for (let point = 0; point < POINTS; point++) {
        const outcome = await once(await place(), next() * ms, WAYS[point % WAYS.length] ?? "abort");
        if (outcome.cut) cut++;
        else ms = outcome.ms; // the machine has become faster
        expect(more(processes(), others)).toEqual([]);
      }
      expect(cut).toBeGreaterThan(POINTS / 4); // else the aborts came too late to show anything
      // What is closed may take a moment to be gone.
      const until = Date.now() + 30_000;
      while (more(process.getActiveResourcesInfo(), handles).length > 0 && Date.now() < until) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(more(process.getActiveResourcesInfo(), handles)).toEqual([]);
      await stop();
    });
  }
});
