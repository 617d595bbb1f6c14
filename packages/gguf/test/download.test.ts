import { mkdir, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveModel } from "../src/index.js";
import { failureOf, fetchModel, hubForTest, model, tempFolder, transfer } from "./support/hub.js";

const FILE = "Tiny-Q4_K_M.gguf";

/** Every file in the cache that has to do with a download: blobs, and what is on its way. */
async function blobsIn(cache: string, repo = "models--acme--Tiny-GGUF"): Promise<string[]> {
  return (await readdir(join(cache, repo, "blobs")).catch(() => []))
    .map((name) => name.replace(/^[0-9a-f]+/, "blob"))
    .sort();
}

test("a model is fetched in parallel ranges into the cache layout that all Hugging Face tools share", async () => {
  const hub = await hubForTest();
  const content = model();
  const { head } = hub.addModel("acme/Tiny-GGUF", { [FILE]: content, "README.md": Buffer.from("# Tiny") });
  const cache = await tempFolder();

  const found = await fetchModel("acme/Tiny-GGUF", hub, cache);

  expect(found).toMatchObject({ source: "download", quantization: "Q4_K_M", commit: head, bytes: content.length });
  expect(found.path).toBe(join(cache, "models--acme--Tiny-GGUF/snapshots", head, FILE));
  expect(await readFile(found.path)).toEqual(Buffer.from(content));
  expect(await readlink(found.path)).toMatch(/^\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/);
  expect(await readFile(join(cache, "models--acme--Tiny-GGUF/refs/main"), "utf8")).toBe(head);
  expect(await blobsIn(cache)).toEqual(["blob"]);
  expect(hub.bytesSent).toBe(content.length + 1); // the one byte asks for the size
});

test("events: what is asked, what was chosen and why, progress that grows, the checksum", async () => {
  const hub = await hubForTest();
  const content = model();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  const { events } = await fetchModel("acme/Tiny-GGUF", hub, await tempFolder());

  expect(events[0]).toEqual({ type: "resolving", repo: "acme/Tiny-GGUF", revision: "main" });
  expect(events[1]).toMatchObject({ type: "chosen", quantization: "Q4_K_M", files: [FILE], bytes: content.length });
  const progress = events.flatMap((event) => (event.type === "downloading" ? [event.bytesDone] : []));
  expect(progress[0]).toBe(0);
  expect(progress.at(-1)).toBe(content.length);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(events.at(-1)).toMatchObject({ type: "verifying", bytesDone: content.length, bytesTotal: content.length });
});

test("what is in the cache is used without a request", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  const cache = await tempFolder();
  const first = await fetchModel("acme/Tiny-GGUF", hub, cache);
  const requests = hub.requests.length;
  for (const name of ["acme/Tiny-GGUF", "acme/Tiny-GGUF:q4_k_m", "ACME/tiny-gguf", `hf:acme/Tiny-GGUF/${FILE}`]) {
    expect(await fetchModel(name, hub, cache)).toMatchObject({ source: "cache", path: first.path, events: [] });
  }
  expect((await fetchModel("acme/Tiny-GGUF", hub, cache)).reason).toBe(first.reason);
  expect(hub.requests.length).toBe(requests);
});

test("with refresh the hub is asked, and only what is new is fetched", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model(1) });
  const cache = await tempFolder();
  const first = await fetchModel("acme/Tiny-GGUF", hub, cache);
  expect(await fetchModel("acme/Tiny-GGUF", hub, cache, { refresh: true })).toMatchObject({ source: "cache" });

  hub.addModel("acme/Tiny-GGUF", { "README.md": Buffer.from("new") });
  const same = await fetchModel("acme/Tiny-GGUF", hub, cache, { refresh: true });
  expect(same.source).toBe("cache");
  expect(same.commit).not.toBe(first.commit);

  hub.addModel("acme/Tiny-GGUF", { [FILE]: model(2) });
  const newer = await fetchModel("acme/Tiny-GGUF", hub, cache, { refresh: true });
  expect(newer.source).toBe("download");
  expect(await readFile(newer.path)).toEqual(Buffer.from(model(2)));
  expect(await readFile(first.path)).toEqual(Buffer.from(model(1)));
});

test("a repository's name is understood in any case and kept as its owner writes it", async () => {
  const hub = await hubForTest();
  hub.addModel("Acme/Tiny-GGUF", { [FILE]: model() });
  const cache = await tempFolder();
  expect((await fetchModel("acme/tiny-gguf", hub, cache)).path).toContain("models--Acme--Tiny-GGUF");
});

test("a revision is a branch or a commit", async () => {
  const hub = await hubForTest();
  const { head } = hub.addModel("acme/Tiny-GGUF", { [FILE]: model(1) });
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model(2) }, { revision: "refs/pr/1" });
  const cache = await tempFolder();
  const branch = await fetchModel("acme/Tiny-GGUF:refs/pr/1", hub, cache);
  expect(await readFile(branch.path)).toEqual(Buffer.from(model(2)));
  expect(await fetchModel("acme/Tiny-GGUF:refs/pr/1", hub, cache)).toMatchObject({
    source: "cache",
    commit: branch.commit,
  });
  const commit = await fetchModel(`acme/Tiny-GGUF:${head}`, hub, cache);
  expect(await readFile(commit.path)).toEqual(Buffer.from(model(1)));
});

test("a split model is fetched whole, with its progress in one", async () => {
  const hub = await hubForTest();
  const content = model();
  const names = ["00001", "00002"].map((n) => `Q4_K_M/Tiny-Q4_K_M-${n}-of-00002.gguf`);
  hub.addModel("acme/Tiny-GGUF", { [names[0] ?? ""]: content, [names[1] ?? ""]: model(2) }, {});
  const found = await fetchModel("acme/Tiny-GGUF", hub, await tempFolder());
  expect(found.files.map((file) => file.split("/").slice(-2).join("/"))).toEqual(names);
  expect(found.path).toBe(found.files[0]);
  const last = found.events.findLast((event) => event.type === "downloading");
  expect(last).toMatchObject({ bytesDone: found.bytes, bytesTotal: found.bytes });
});

test.each(["xet", "git"] as const)("files kept by %s are fetched and checked too", async (storage) => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: { content: model(), storage } });
  const cache = await tempFolder();
  const found = await fetchModel("acme/Tiny-GGUF", hub, cache);
  expect(await readFile(found.path)).toEqual(Buffer.from(model()));

  const broken = await hubForTest({
    fault: ({ range }) => (range && range[1] > 50_000 ? { type: "corrupt" } : undefined),
  });
  broken.addModel("acme/Tiny-GGUF", { [FILE]: { content: model(2), storage } });
  expect((await failureOf(fetchModel("acme/Tiny-GGUF", broken, await tempFolder()))).problem).toBe("checksum");
});

test("a long listing is read to its last page", async () => {
  const hub = await hubForTest({ pageSize: 2 });
  const others = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`note-${i}.md`, Buffer.from(`${i}`)]));
  hub.addModel("acme/Tiny-GGUF", { ...others, [FILE]: model() });
  expect((await fetchModel("acme/Tiny-GGUF", hub, await tempFolder())).quantization).toBe("Q4_K_M");
});

test("connections that are cut or fall silent are made again, and nothing is fetched twice", async () => {
  const hub = await hubForTest();
  const content = model();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  let count = 0;
  hub.fault = ({ kind, range }) => {
    if (kind !== "cdn" || range?.[1] === 0) return undefined;
    count++;
    if (count % 5 === 0) return { type: "cut", afterBytes: 5000 };
    if (count === 7) return { type: "stall", afterBytes: 3000 };
    return count % 11 === 0 ? { type: "status", status: 503 } : undefined;
  };
  const found = await fetchModel("acme/Tiny-GGUF", hub, await tempFolder(), {
    hub: { transfer: { ...transfer, stallTimeoutMs: 300 } },
  });
  expect(await readFile(found.path)).toEqual(Buffer.from(content));
  expect(hub.bytesSent).toBe(content.length + 1);
});

test("the hub's wish to be asked later is heard", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  let refused = 0;
  hub.fault = ({ kind }) => {
    if (kind !== "tree" || refused === 2) return undefined;
    refused++;
    return { type: "status", status: 429, headers: { "Retry-After": "0" } };
  };
  expect((await fetchModel("acme/Tiny-GGUF", hub, await tempFolder())).source).toBe("download");
  hub.fault = () => ({ type: "status", status: 429, headers: { "Retry-After": "3600" } });
  const error = await fetchModel("acme/Tiny-GGUF", hub, await tempFolder()).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: "provider", status: 429, retryAfterMs: 3_600_000, retryable: true });
});

test.each([
  ["the whole file in place of a part", { type: "ignoreRange" }],
  ["a web page in place of a part", { type: "html" }],
] as const)("%s is never written over good bytes", async (_, fault) => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  const cache = await tempFolder();
  hub.fault = ({ kind, range }) => (kind === "cdn" && range && range[0] > 100_000 ? fault : undefined);
  expect((await failureOf(fetchModel("acme/Tiny-GGUF", hub, cache))).problem).toBe("notTheHub");
  expect(await blobsIn(cache)).not.toContain("blob");
  hub.fault = undefined;
  expect(await readFile((await fetchModel("acme/Tiny-GGUF", hub, cache)).path)).toEqual(Buffer.from(model()));
});

test("a file that arrives damaged is thrown away, and the next attempt is right", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  const cache = await tempFolder();
  hub.fault = ({ range }) => (range?.[0] === 163_840 ? { type: "corrupt" } : undefined);
  const { code, problem } = await failureOf(fetchModel("acme/Tiny-GGUF", hub, cache));
  expect({ code, problem }).toEqual({ code: "provider", problem: "checksum" });
  expect(await blobsIn(cache)).toEqual([]);
  hub.fault = undefined;
  expect(await readFile((await fetchModel("acme/Tiny-GGUF", hub, cache)).path)).toEqual(Buffer.from(model()));
});

test("a file that is no GGUF is given up at its first bytes", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: Buffer.alloc(2_000_000, "no model ") });
  const cache = await tempFolder();
  const { problem, message } = await failureOf(fetchModel("acme/Tiny-GGUF", hub, cache));
  expect(problem).toBe("notGguf");
  expect(message).toContain(FILE);
  expect(hub.bytesSent).toBeLessThan(1_000_000);
  expect(await blobsIn(cache)).toEqual([]);
});

test("an abort leaves what has arrived, and the next attempt fetches only the rest", async () => {
  const hub = await hubForTest();
  const content = model();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  const cache = await tempFolder();
  const stop = new AbortController();
  const fetching = fetchModel("acme/Tiny-GGUF", hub, cache, {
    signal: stop.signal,
    onEvent: (event) => event.type === "downloading" && event.bytesDone > content.length / 2 && stop.abort(),
  });
  expect((await failureOf(fetching)).code).toBe("cancelled");
  expect(await blobsIn(cache)).toEqual(["blob.shedkit.incomplete", "blob.shedkit.parts"]);

  const sent = hub.bytesSent;
  const { events, path } = await fetchModel("acme/Tiny-GGUF", hub, cache);
  const lost = transfer.connections * transfer.partBytes;
  expect(hub.bytesSent - sent).toBeLessThanOrEqual(content.length / 2 + lost);
  expect(events.find((event) => event.type === "downloading")?.bytesDone).toBeGreaterThan(content.length / 2 - lost);
  expect(await readFile(path)).toEqual(Buffer.from(content));
  expect(await blobsIn(cache)).toEqual(["blob"]);
});

test("an abort ends at once whatever is being waited for", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  for (const kind of ["info", "tree", "resolve", "cdn"] as const) {
    const stop = new AbortController();
    hub.fault = (request) => {
      if (request.kind !== kind) return undefined;
      stop.abort();
      return { type: "stall" };
    };
    const started = performance.now();
    const { code } = await failureOf(fetchModel("acme/Tiny-GGUF", hub, await tempFolder(), { signal: stop.signal }));
    expect(code).toBe("cancelled");
    expect(performance.now() - started).toBeLessThan(1500); // well before the silence would be noticed
  }
  expect(
    (await failureOf(fetchModel("acme/Tiny-GGUF", hub, await tempFolder(), { signal: AbortSignal.abort() }))).code,
  ).toBe("cancelled");
});

test("several at once in one process fetch once", async () => {
  const hub = await hubForTest();
  const content = model();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: content });
  const cache = await tempFolder();
  const all = await Promise.all(Array.from({ length: 4 }, () => fetchModel("acme/Tiny-GGUF", hub, cache)));
  expect(all.filter(({ source }) => source === "download").length).toBe(1);
  expect(all.flatMap(({ events }) => events).filter(({ type }) => type === "waiting").length).toBe(3);
  expect(hub.bytesSent).toBe(content.length + 1);
});

test("a blob that was damaged on the disk is fetched again, though its size is right", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  const cache = await tempFolder();
  const { path } = await fetchModel("acme/Tiny-GGUF", hub, cache);
  await writeFile(path, Buffer.alloc(model().length));
  const again = await fetchModel("acme/Tiny-GGUF", hub, cache);
  expect(again).toMatchObject({ source: "download", path });
  expect(await readFile(path)).toEqual(Buffer.from(model()));
});

test("as many ranges as there are connections are fetched at once", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  const stop = new AbortController();
  let open = 0;
  hub.fault = ({ kind, range }) => {
    if (kind !== "cdn" || range?.[1] === 0) return undefined;
    open++;
    if (open === transfer.connections) stop.abort();
    return { type: "stall" };
  };
  const stopped = await failureOf(fetchModel("acme/Tiny-GGUF", hub, await tempFolder(), { signal: stop.signal }));
  expect(stopped.code).toBe("cancelled"); // else the silence would have ended it
  expect(open).toBe(transfer.connections);
});

test("a blob of the wrong size is fetched again", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() });
  const cache = await tempFolder();
  const { path } = await fetchModel("acme/Tiny-GGUF", hub, cache);
  await writeFile(path, model().subarray(0, 1000)); // through the link: the blob is cut
  const again = await fetchModel("acme/Tiny-GGUF", hub, cache);
  expect(again.source).toBe("download");
  expect(await readFile(again.path)).toEqual(Buffer.from(model()));
});

test("the token goes to the hub and to nobody else", async () => {
  const hub = await hubForTest({ tokens: ["hf_good"] });
  hub.addModel("acme/Tiny-GGUF", { [FILE]: model() }, { gated: true, allowedTokens: ["hf_good"] });
  await fetchModel("acme/Tiny-GGUF", hub, await tempFolder(), { hub: { token: { reveal: () => "hf_good" } } });
  for (const { kind, headers } of hub.requests) {
    expect(headers.authorization).toBe(kind === "cdn" ? undefined : "Bearer hf_good");
  }
  expect(hub.requests.some(({ kind }) => kind === "cdn")).toBe(true);
});

test("names that lead out of the cache are not fetched", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { "../../../evil-Q4_K_M.gguf": model(), "ok-Q8_0.gguf": model() });
  const found = await fetchModel("acme/Tiny-GGUF", hub, await tempFolder());
  expect(found.path).toMatch(/ok-Q8_0\.gguf$/);
});

test("a path with characters that addresses give a meaning is fetched", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", { "sub folder/Tiny #1?-Q4_K_M.gguf": model() });
  expect((await fetchModel("acme/Tiny-GGUF", hub, await tempFolder())).path).toMatch(
    /sub folder\/Tiny #1\?-Q4_K_M\.gguf$/,
  );
});

test("what another tool has put into the cache is used", async () => {
  const cache = await tempFolder();
  const commit = "a".repeat(40);
  const root = join(cache, "models--acme--Tiny-GGUF");
  for (const folder of ["blobs", `snapshots/${commit}`, "refs"]) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, "snapshots", commit, FILE), model()); // as on Windows: a file, not a link
  await writeFile(join(root, "refs/main"), commit);
  const found = await resolveModel("acme/Tiny-GGUF", { hub: { cacheDir: cache, offline: true } });
  expect(found).toMatchObject({ source: "cache", commit, path: join(root, "snapshots", commit, FILE) });
  expect((await stat(found.path)).size).toBe(model().length);
});
