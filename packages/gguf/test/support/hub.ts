import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeHub, type FakeHubOptions, tinyGguf } from "@shedkit/testing";
import { onTestFinished } from "vitest";
import { type ModelFetchEvent, type ResolvedModel, type ResolveModelOptions, resolveModel } from "../../src/index.js";

/** A folder for a test, removed after it. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-gguf-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A hub for a test, closed after it. */
export async function hubForTest(options?: FakeHubOptions): Promise<FakeHub> {
  const hub = await FakeHub.start(options);
  onTestFinished(() => hub.close());
  return hub;
}

const models = new Map<number, Uint8Array>();

/** A small model, another one for each seed. */
export function model(seed = 1): Uint8Array {
  const made = models.get(seed) ?? tinyGguf({ seed });
  models.set(seed, made);
  return made;
}

/** Small parts and short waits, so that tests see many parts and end soon. */
export const transfer = { partBytes: 32 * 1024, connections: 3, retryDelayMs: 1, stallTimeoutMs: 2_000 };

/** Resolves against a fake hub, and says what happened meanwhile. */
export async function fetchModel(
  reference: string,
  hub: FakeHub,
  cacheDir: string,
  { hub: settings, ...options }: ResolveModelOptions = {},
): Promise<ResolvedModel & { events: ModelFetchEvent[] }> {
  const events: ModelFetchEvent[] = [];
  const resolved = await resolveModel(reference, {
    hub: { endpoint: hub.url, cacheDir, transfer, ...settings },
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { ...resolved, events };
}

/** The error that a promise rejects with. */
export async function failureOf(
  promise: Promise<unknown>,
): Promise<{ code: string; problem: unknown; message: string }> {
  try {
    await promise;
  } catch (error) {
    const { code, details, message } = error as { code: string; details: { problem?: string }; message: string };
    return { code, problem: details?.problem, message };
  }
  throw new Error("it did not fail");
}
