import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionRecord } from "@shedkit/types";
import { expect, onTestFinished } from "vitest";

/** A folder that is gone after the test. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-kill-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").filter(Boolean) : [];
}

/** The same numbers for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** By the marks that the tools left on the disk: no call ran twice, and what the log calls done has run. */
export function checkRuns(folder: string, records: readonly SessionRecord[]): void {
  const runs = new Map<string, number>();
  for (const call of linesOf(join(folder, "marks"))) runs.set(call, (runs.get(call) ?? 0) + 1);
  for (const count of runs.values()) expect(count).toBe(1);
  const marking = new Set(
    records.flatMap((record) =>
      record.type === "conversation" && record.message.type === "toolResult" && record.message.name !== "bash"
        ? [record.message.toolCallId]
        : [],
    ),
  );
  for (const record of records) {
    if (record.type !== "toolFinished" || record.outcome !== "ok" || !marking.has(record.toolCallId)) continue;
    expect(runs.get(record.toolCallId)).toBe(1);
  }
}
