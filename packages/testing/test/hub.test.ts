import { expect, onTestFinished, test } from "vitest";
import { FakeHub, type FakeHubOptions } from "../src/index.js";

const content = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));

async function hubForTest(options?: FakeHubOptions): Promise<FakeHub> {
  const hub = await FakeHub.start(options);
  onTestFinished(() => hub.close());
  hub.addModel("acme/Tiny", { "a/m.gguf": content, "README.md": { content: Buffer.from("hi"), storage: "git" } });
  return hub;
}

const part = (first: number, last: number) => ({ headers: { Range: `bytes=${first}-${last}` } });

test("a large file is a redirect to another origin, which serves ranges", async () => {
  const hub = await hubForTest();
  const there = await fetch(`${hub.url}/acme/Tiny/resolve/main/a/m.gguf`, { redirect: "manual" });
  expect(there.status).toBe(302);
  expect(there.headers.get("Location")).toContain(hub.cdnUrl);
  expect(there.headers.get("X-Linked-Size")).toBe("1000");
  expect(there.headers.get("X-Linked-ETag")).toMatch(/^"[0-9a-f]{64}"$/);

  const response = await fetch(`${hub.url}/acme/Tiny/resolve/main/a/m.gguf`, part(10, 19));
  expect(response.status).toBe(206);
  expect(response.headers.get("Content-Range")).toBe("bytes 10-19/1000");
  expect(Buffer.from(await response.arrayBuffer())).toEqual(content.subarray(10, 20));
  expect(hub.requests.map(({ kind }) => kind)).toEqual(["resolve", "resolve", "cdn"]);
  expect(hub.requests.at(-1)?.range).toEqual([10, 19]);
  expect((await fetch(`${hub.url}/acme/Tiny/resolve/main/a/m.gguf`, part(1000, 1001))).status).toBe(416);
});

test("a small file comes from the hub itself", async () => {
  const hub = await hubForTest();
  expect(await (await fetch(`${hub.url}/acme/Tiny/resolve/main/README.md`)).text()).toBe("hi");
  expect(hub.bytesSent).toBe(2);
});

test("a listing has pages, folders and checksums; a commit builds on the one before", async () => {
  const hub = await hubForTest({ pageSize: 2 });
  const { head } = hub.addModel("acme/Tiny", { "new.gguf": Buffer.from("x") });
  expect(await (await fetch(`${hub.url}/api/models/acme/Tiny`)).json()).toMatchObject({ id: "acme/Tiny", sha: head });
  const paths: string[] = [];
  for (let url: string | undefined = `${hub.url}/api/models/acme/Tiny/tree/${head}?recursive=true`; url; ) {
    const response: Response = await fetch(url);
    for (const entry of (await response.json()) as { path: string }[]) paths.push(entry.path);
    url = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
  }
  expect(paths).toEqual(["a", "a/m.gguf", "README.md", "new.gguf"]);
});

test("names are found in any case by redirect; what is missing is told apart", async () => {
  const hub = await hubForTest({ tokens: ["hf_good"] });
  const status = async (path: string, token?: string) => {
    const response = await fetch(`${hub.url}${path}`, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
    await response.body?.cancel();
    return [response.status, response.headers.get("X-Error-Code")];
  };
  expect(await status("/api/models/ACME/tiny/revision/main")).toEqual([200, null]);
  expect(await status("/api/models/acme/none/revision/main")).toEqual([401, "RepoNotFound"]);
  expect(await status("/api/models/acme/none/revision/main", "hf_good")).toEqual([404, "RepoNotFound"]);
  expect(await status("/api/models/acme/Tiny/revision/v9")).toEqual([404, "RevisionNotFound"]);
  expect(await status("/acme/Tiny/resolve/main/none.gguf")).toEqual([404, "EntryNotFound"]);
  expect(await status("/api/models/acme/Tiny", "hf_bad")).toEqual([401, null]);
  hub.addModel("acme/Gated", { "m.gguf": content }, { gated: true, allowedTokens: ["hf_good"] });
  expect(await status("/acme/Gated/resolve/main/m.gguf")).toEqual([401, "GatedRepo"]);
  expect(await status("/acme/Gated/resolve/main/m.gguf", "hf_good")).toEqual([200, null]);
});

test("what goes wrong goes wrong as asked", async () => {
  const hub = await hubForTest();
  const url = `${hub.url}/acme/Tiny/resolve/main/a/m.gguf`;
  hub.fault = ({ kind }) => (kind === "cdn" ? { type: "cut", afterBytes: 100 } : undefined);
  await expect((await fetch(url)).arrayBuffer()).rejects.toThrow();
  hub.fault = ({ kind }) => (kind === "cdn" ? { type: "corrupt" } : undefined);
  const damaged = Buffer.from(await (await fetch(url)).arrayBuffer());
  expect(damaged.filter((byte, i) => byte !== content[i]).length).toBe(1);
  hub.fault = ({ kind }) => (kind === "cdn" ? { type: "ignoreRange" } : undefined);
  expect((await fetch(url, part(0, 9))).status).toBe(200);
  hub.fault = ({ kind }) => (kind === "cdn" ? { type: "slow", bytesPerSecond: 10_000 } : undefined);
  const started = performance.now();
  expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(content);
  expect(performance.now() - started).toBeGreaterThan(60);
  hub.fault = () => ({ type: "html" });
  expect(await (await fetch(url)).text()).toContain("<!DOCTYPE html>");
  hub.fault = () => ({ type: "status", status: 429, headers: { "Retry-After": "1" } });
  expect((await fetch(url)).status).toBe(429);
  hub.fault = () => ({ type: "stall" });
  const stop = new AbortController();
  const waiting = fetch(url, { signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toThrow();
});
