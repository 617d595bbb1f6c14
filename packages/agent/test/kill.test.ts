import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ScriptedProvider } from "@shedkit/testing";
import type { SessionId, SessionRecord } from "@shedkit/types";
import { build } from "tsup";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkValid, collect, transcript } from "./helpers.js";
import { killable } from "./kill/parts.js";

const POINTS = Number(process.env.KILL_POINTS ?? 20);
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const AT_ONCE = 4;

/** The child as one program, made of the sources: it starts in a moment. */
async function program(): Promise<string> {
  const outDir = await tempFolder();
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
    ...{ silent: true, dts: false, config: false, clean: false },
  });
  await writeFile(join(outDir, "package.json"), '{"type":"module"}');
  return join(outDir, "child.js");
}

/** Runs the child; kills it `afterMs` after its turn began. Returns how long the turn took where it was left alone. */
async function run(child: ChildProcess, afterMs: number | undefined): Promise<number> {
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let began = 0;
  let ended = 0;
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    if (line === "begins") {
      began = performance.now();
      if (afterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), afterMs);
    } else if (line === "ends") ended = performance.now();
  }
  await exited;
  expect(began).toBeGreaterThan(0);
  return ended - began;
}

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-kill-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").filter(Boolean) : [];
}

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Resumes what the killed process left, and checks it. True where the kill had cut a turn short. */
async function checkResume(folder: string): Promise<boolean> {
  const provider = new ScriptedProvider([{ call: "write" }, "Back again.", "And this too.", "And that."]);
  const { builder, store, close } = await killable(folder, provider);
  const id = "killed" as SessionId;
  const records: SessionRecord[] = (await collect(store.read(id))).map(({ record }) => record);
  const stored = new Set(records.map((record) => record.id));
  for (const shown of linesOf(join(folder, "shown"))) expect(stored).toContain(shown);

  const session = await builder.build();
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
  const runs = new Map<string, number>();
  for (const call of linesOf(join(folder, "marks"))) runs.set(call, (runs.get(call) ?? 0) + 1);
  for (const count of runs.values()) expect(count).toBe(1);
  for (const record of records) {
    if (record.type === "toolFinished" && record.outcome === "ok") expect(runs.get(record.toolCallId)).toBe(1);
  }
  await session.end();
  await close();
  return records.length > 0 && records.every((record) => record.type !== "summary");
}

describe("a process that is killed in the middle of a turn", () => {
  it(`resumes with nothing lost and nothing run twice (KILL_SEED=${SEED})`, { timeout: 300_000 }, async () => {
    const file = await program();
    const start = (folder: string) => spawn(process.execPath, [file, folder], { stdio: ["ignore", "pipe", "inherit"] });
    const length = await run(start(await tempFolder()), undefined);
    const next = random(SEED);
    const waiting = Array.from({ length: POINTS }, () => next() * length)[Symbol.iterator]();
    let cutShort = 0;
    const worker = async () => {
      for (const afterMs of waiting) {
        const folder = await tempFolder();
        await run(start(folder), afterMs);
        if (await checkResume(folder)) cutShort++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(cutShort).toBeGreaterThan(POINTS / 4); // else the kills came too late to show anything
  });
});
