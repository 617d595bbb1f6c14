import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { FakeHub } from "@shedkit/testing";
import { expect, onTestFinished, test } from "vitest";
import { fetchModel, hubForTest, model, tempFolder, transfer } from "./support/hub.js";

const FILE = "Tiny-Q4_K_M.gguf";
const preload = fileURLToPath(new URL("../../../vitest.sources.mjs", import.meta.url));
const program = fileURLToPath(new URL("./support/fetch-model.ts", import.meta.url));

interface Fetching {
  child: ChildProcess;
  events: { type: string; bytesDone?: number; path?: string; source?: string }[];
  /** Resolves when such an event came, or the process ended. */
  until(wanted: (event: Fetching["events"][number]) => boolean): Promise<void>;
  ended: Promise<unknown>;
}

/** A process that fetches `acme/Tiny-GGUF`. */
function startFetching(hub: FakeHub, cache: string): Fetching {
  const flags = ["--import", preload, "--conditions=@shedkit/source", "--no-warnings"];
  const child = spawn(process.execPath, [...flags, program, hub.url, cache, "acme/Tiny-GGUF"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const events: Fetching["events"] = [];
  const waiting = new Set<() => void>();
  const ended = once(child, "close");
  createInterface({ input: child.stdout }).on("line", (line) => {
    events.push(JSON.parse(line));
    for (const look of waiting) look();
  });
  return {
    child,
    events,
    ended,
    until: (wanted) =>
      Promise.race([
        ended.then(() => undefined),
        new Promise<void>((resolve) => {
          const look = () => events.some(wanted) && resolve();
          waiting.add(look);
          look();
        }),
      ]),
  };
}

/** Which bytes of the file were asked of the CDN, the byte that asks for the size left out. */
function bytesAsked(hub: FakeHub): number {
  return hub.requests.reduce(
    (sum, { kind, range }) => sum + (kind === "cdn" && range && range[1] > 0 ? range[1] - range[0] + 1 : 0),
    0,
  );
}

test("killed at any moment, a download costs no more than the parts in flight, and ends right", async () => {
  const content = model();
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  const cache = await tempFolder();
  const share = [0.15, 0.4, 0.8];
  for (const [kills, at] of share.entries()) {
    const fetching = startFetching(hub, cache);
    await fetching.until(({ bytesDone = 0 }) => bytesDone > at * content.length);
    fetching.child.kill("SIGKILL");
    await fetching.ended;
    expect(fetching.events.some(({ type }) => type === "done")).toBe(false);
    const whole = (await readdir(join(cache, "models--acme--Tiny-GGUF/blobs"))).filter((name) => !name.includes("."));
    expect([kills, whole]).toEqual([kills, []]);
  }
  const { path } = await fetchModel("acme/Tiny-GGUF", hub, cache);
  expect(await readFile(path)).toEqual(Buffer.from(content));
  const inFlight = transfer.connections * transfer.partBytes;
  expect(bytesAsked(hub)).toBeLessThanOrEqual(content.length + share.length * inFlight);
});

test("killed while the checksum is computed, nothing is fetched again", async () => {
  const content = model();
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  const cache = await tempFolder();
  const fetching = startFetching(hub, cache);
  await fetching.until(({ type }) => type === "verifying");
  fetching.child.kill("SIGKILL");
  await fetching.ended;
  const { path } = await fetchModel("acme/Tiny-GGUF", hub, cache);
  expect(await readFile(path)).toEqual(Buffer.from(content));
  expect(bytesAsked(hub)).toBe(content.length);
});

test("two processes at once fetch once, and both have the model", async () => {
  const content = model();
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  const cache = await tempFolder();
  const both = [startFetching(hub, cache), startFetching(hub, cache)];
  await Promise.all(both.map(({ ended }) => ended));
  const done = both.map(({ events }) => events.at(-1));
  expect(done.map((event) => event?.source).sort()).toEqual(["cache", "download"]);
  expect(done[0]?.path).toBe(done[1]?.path);
  expect(await readFile(done[0]?.path ?? "")).toEqual(Buffer.from(content));
  expect(bytesAsked(hub)).toBe(content.length);
});

test("who waits for another process goes on where it was killed", async () => {
  const content = model();
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  const cache = await tempFolder();
  // The first one comes to a stop in the middle; the second one waits for it.
  let stalled = 0;
  hub.fault = ({ kind, range }) => {
    if (kind !== "cdn" || !range || range[0] < 300_000 || stalled === transfer.connections) return undefined;
    stalled++;
    return { type: "stall" };
  };
  const first = startFetching(hub, cache);
  await first.until(({ bytesDone = 0 }) => bytesDone > 290_000);
  const second = startFetching(hub, cache);
  await second.until(({ type }) => type === "waiting");
  expect(second.events.some(({ type }) => type === "downloading")).toBe(false);
  first.child.kill("SIGKILL");
  await second.ended;
  expect(second.events.at(-1)).toMatchObject({ type: "done", source: "download" });
  const resumed = second.events.find(({ type }) => type === "downloading");
  expect(resumed?.bytesDone).toBeGreaterThanOrEqual(290_000 - transfer.connections * transfer.partBytes);
});

test("what the dead left in the lock's folder stops nobody", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  const cache = await tempFolder();
  await fetchModel("acme/Tiny-GGUF", hub, cache);
  const locks = join(cache, ".locks/models--acme--Tiny-GGUF");
  const [folder = ""] = await readdir(locks);
  const dead = spawn(process.execPath, ["-e", ""]);
  await once(dead, "close");
  const old = join(locks, folder, "1@another-machine@x");
  await writeFile(join(locks, folder, `${dead.pid}@${hostname()}@x`), "");
  await writeFile(old, "");
  await utimes(old, new Date(0), new Date(0));

  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  await rm(join(cache, "models--acme--Tiny-GGUF"), { recursive: true });
  expect((await fetchModel("acme/Tiny-GGUF", hub, cache)).source).toBe("download");
  expect(await readdir(join(locks, folder))).toEqual([]);
});
