import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheError } from "../src/hub/cache.js";
import { failureOf, fetchModel, hubForTest, model, tempFolder, transfer } from "./support/hub.js";

const FILE = "Tiny-Q4_K_M.gguf";

/** The error of asking for `reference`, checked to be one clear line. */
async function refusal(reference: string, hub: Awaited<ReturnType<typeof hubForTest>>, options = {}) {
  const failure = await failureOf(fetchModel(reference, hub, await tempFolder(), options));
  expect(failure.message).not.toContain("\n");
  return failure;
}

test("a repository that does not exist", async () => {
  const hub = await hubForTest({ tokens: ["hf_good"] });
  const stranger = await refusal("acme/none", hub);
  expect(stranger).toMatchObject({ code: "provider", problem: "repoNotFound" });
  expect(stranger.message).toMatch(/acme\/none.*check the spelling.*HF_TOKEN/);
  expect((await refusal("acme/none", hub, { hub: { token: "hf_good" } })).problem).toBe("repoNotFound");
});

test("a private repository looks like none, but for those who may see it", async () => {
  const hub = await hubForTest({ tokens: ["hf_good", "hf_other"] });
  hub.addModel("acme/private", { [FILE]: model() }, { private: true, allowedTokens: ["hf_good"] });
  expect((await refusal("acme/private", hub)).problem).toBe("repoNotFound");
  expect((await refusal("acme/private", hub, { hub: { token: "hf_other" } })).message).toMatch(
    /token may have no access/,
  );
  expect((await fetchModel("acme/private", hub, await tempFolder(), { hub: { token: "hf_good" } })).source).toBe(
    "download",
  );
});

test("a gated repository says where its terms are", async () => {
  const hub = await hubForTest({ tokens: ["hf_other"] });
  hub.addModel("acme/gated", { [FILE]: model() }, { gated: true, allowedTokens: [] });
  const stranger = await refusal("acme/gated", hub);
  expect(stranger.code).toBe("auth");
  expect(stranger.message).toMatch(/gated: accept its terms at .*\/acme\/gated, then set HF_TOKEN/);
  const known = await refusal("acme/gated", hub, { hub: { token: "hf_other" } });
  expect(known.code).toBe("auth");
  expect(known.message).toMatch(/your token has no access/);
});

test("a token that is not valid, of whatever form", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model() });
  for (const token of ["hf_bad", "not even like one"]) {
    const { code, message } = await refusal("acme/tiny", hub, { hub: { token } });
    expect(code).toBe("auth");
    expect(message).toMatch(/does not accept your token/);
    expect(message).not.toContain(token);
  }
});

test("a revision that does not exist", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model() });
  expect(await refusal("acme/tiny:v9", hub)).toMatchObject({
    problem: "revisionNotFound",
    message: expect.stringMatching(/"v9"/),
  });
});

test("a quantization that is not there: what there is is listed", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model(), "Tiny-Q8_0.gguf": model(2), "mmproj-F16.gguf": model(3) });
  const { problem, message } = await refusal("acme/tiny:Q2_K", hub);
  expect(problem).toBe("quantizationNotFound");
  expect(message).toMatch(/no Q2_K; it has .*Q4_K_M \(765 kB\)/);
  expect(message).not.toMatch(/F16/);
  expect((await refusal("acme/tiny", hub, { quantization: "Q99" })).problem).toBe("badReference");
  expect((await refusal("hf:acme/tiny/none.gguf", hub)).problem).toBe("fileNotInRepo");
});

test("a repository without GGUF", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { "model.safetensors": Buffer.from("x") });
  expect(await refusal("acme/tiny", hub)).toMatchObject({ problem: "noGguf", message: expect.stringMatching(/-GGUF/) });
});

test("no network, and a host that is not there", async () => {
  const hub = await hubForTest();
  await hub.close();
  expect(await refusal("acme/tiny", hub)).toMatchObject({ code: "provider", problem: "unreachable" });
  const nowhere = { hub: { endpoint: "http://hub.invalid" } };
  expect((await refusal("acme/tiny", hub, nowhere)).message).toMatch(/hub\.invalid could not be reached \(E/);
});

test("an endpoint that is none", async () => {
  const hub = await hubForTest();
  for (const endpoint of ["huggingface", "ftp://x", ""]) {
    expect((await refusal("acme/tiny", hub, { hub: { endpoint } })).message).toMatch(/HF_ENDPOINT/);
  }
});

test("a hub that fails, stays silent, or is a login page", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model() });
  hub.fault = () => ({ type: "status", status: 500 });
  expect(await refusal("acme/tiny", hub)).toMatchObject({ problem: "hubError", message: expect.stringMatching(/500/) });
  expect(hub.requests.length).toBe(5);
  hub.fault = () => ({ type: "html" });
  expect(await refusal("acme/tiny", hub)).toMatchObject({
    problem: "notTheHub",
    message: expect.stringMatching(/login page/),
  });
  hub.fault = () => ({ type: "stall" });
  const silent = await refusal("acme/tiny", hub, { hub: { transfer: { ...transfer, stallTimeoutMs: 20 } } });
  expect(silent).toMatchObject({ problem: "unreachable", message: expect.stringMatching(/timeout/) });
});

test("a hub that cannot be asked is refused with the cause, not with what fetch says of it", async () => {
  const hub = await hubForTest();
  const cache = await tempFolder();
  const refused = async (endpoint: string) =>
    (await failureOf(fetchModel("acme/tiny", hub, cache, { hub: { endpoint, transfer: { retryDelayMs: 1 } } })))
      .message;
  expect(await refused("http://127.0.0.1:1")).toMatch(/^127\.0\.0\.1:1 could not be reached \(bad port\)\. Check/);
  const { port } = new URL(hub.url);
  expect(await refused(`https://127.0.0.1:${port}`)).toMatch(/could not be reached \([^)]*(SSL|wrong version)[^)]*\)/i);
});

test("an answer that is JSON but not the hub's", async () => {
  const hub = await hubForTest();
  const headers = { "Content-Type": "application/json" };
  for (const body of ["{}", "null", "[]", "{", '"x"', '{"sha":"x","id":1}']) {
    hub.fault = () => ({ type: "status", status: 200, headers, body });
    expect((await refusal("acme/tiny", hub)).problem).toBe("notTheHub");
  }
});

test.runIf(process.platform === "linux")("a cache folder in a place that takes none", { timeout: 20_000 }, async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model() });
  const { problem, message } = await failureOf(fetchModel("acme/tiny", hub, "/proc/models/hub"));
  expect(problem).toBe("cacheNotWritable");
  expect(message).toMatch(/^The cache folder \/proc\/models\/hub does not work: it cannot be used \(ENOENT\)/);
});

test("a file in place of the cache folder, or above it", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model() });
  const file = join(await tempFolder(), "cache");
  await writeFile(file, "");
  for (const [cacheDir, offline] of [
    [file, false],
    [join(file, "below"), false],
    [file, true],
  ] as const) {
    const { code, problem, message } = await failureOf(fetchModel("acme/tiny", hub, cacheDir, { hub: { offline } }));
    expect({ code, problem }).toEqual({ code: "provider", problem: "cacheNotWritable" });
    expect(message).toMatch(/is in the way.*Name another folder, for example with HF_HUB_CACHE in the environment\.$/);
  }
  expect(hub.requests).toEqual([]);
});

test.each([
  "models--acme--tiny",
  "models--acme--tiny/blobs",
  ".locks",
  "models--acme--tiny/snapshots",
  "models--acme--tiny/refs",
])("a file in place of the cache's %s", async (inside) => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model() });
  const cache = await tempFolder();
  await mkdir(join(cache, inside, ".."), { recursive: true });
  await writeFile(join(cache, inside), "");
  const { problem, message } = await failureOf(fetchModel("acme/tiny", hub, cache));
  expect(problem).toBe("cacheNotWritable");
  expect(message).toContain(cache);
});

test.skipIf(process.getuid?.() === 0)("a cache folder that may not be written", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: model() });
  const cache = await tempFolder();
  await chmod(cache, 0o500);
  expect(await failureOf(fetchModel("acme/tiny", hub, cache))).toMatchObject({ problem: "cacheNotWritable" });
});

test("a disk without room for the file: nothing is fetched", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { [FILE]: { content: model(), listedBytes: 10 ** 14 } });
  const { problem, message } = await refusal("acme/tiny", hub, { hub: { transfer: {} } });
  expect(problem).toBe("diskFull");
  expect(message).toMatch(/room for .*, and 100 TB/);
  expect(hub.bytesSent).toBeLessThanOrEqual(1);
});

test("a disk that fills up meanwhile, and other troubles of a disk", () => {
  const told = (code: string) => cacheError("/cache", Object.assign(new Error(code), { code }));
  expect(told("ENOSPC")).toMatchObject({
    details: { problem: "diskFull" },
    message: expect.stringMatching(/is full.*kept/),
  });
  expect(told("EDQUOT")).toMatchObject({ details: { problem: "diskFull" } });
  expect(told("EROFS")).toMatchObject({ message: expect.stringMatching(/may not be written \(EROFS\)/) });
  expect(told("EIO")).toMatchObject({ message: expect.stringMatching(/cannot be used \(EIO\)/) });
});

test("offline: what is in the cache, and a clear word about the rest", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { "Tiny-Q8_0.gguf": model() });
  const cache = await tempFolder();
  await fetchModel("acme/tiny", hub, cache);
  const requests = hub.requests.length;
  const offline = { hub: { offline: true } };
  expect(await fetchModel("acme/tiny", hub, cache, offline)).toMatchObject({ source: "cache", quantization: "Q8_0" });
  expect((await failureOf(fetchModel("acme/tiny:Q4_K_M", hub, cache, offline))).message).toMatch(
    /cache of acme\/tiny has no Q4_K_M; it has Q8_0/,
  );
  expect((await failureOf(fetchModel("acme/other", hub, cache, offline))).problem).toBe("offline");
  expect((await failureOf(fetchModel("acme/tiny:v2", hub, cache, offline))).problem).toBe("offline");
  expect(hub.requests.length).toBe(requests);
});

test("without a network the nearest that is in the cache is used, and it is said", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/tiny", { "Tiny-Q8_0.gguf": model() });
  const cache = await tempFolder();
  await fetchModel("acme/tiny", hub, cache);
  await hub.close();
  const found = await fetchModel("acme/tiny", hub, cache);
  expect(found).toMatchObject({ source: "cache", quantization: "Q8_0" });
  expect(found.reason).toMatch(/could not be reached/);
  expect((await failureOf(fetchModel("acme/tiny:Q4_K_M", hub, cache))).problem).toBe("unreachable");
});
