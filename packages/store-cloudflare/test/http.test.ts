import { KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import {
  blobStoreCases,
  documentStoreCases,
  keyValueStoreCases,
  memoryStoreCases,
  queryStoreCases,
  reopeningDocumentCases,
  reopeningKeyValueCases,
} from "@shedkit/store/conformance";
import { Messages, newId, type SessionId } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { D1R2DocumentStore, D1Store, R2Store } from "../src/index.js";
import { d1Api } from "./support/d1-api.js";
import { s3Server } from "./support/s3-server.js";

describe("D1Store over HTTP", () => {
  const open = async () => D1Store.http((await d1Api()).options);
  for (const { name, run } of queryStoreCases) it(name, async () => run(await open()));
  for (const { name, run } of keyValueStoreCases) it(name, async () => run(await open()));
  for (const { name, run } of reopeningKeyValueCases) {
    it(name, async () => {
      const { options } = await d1Api();
      await run(async () => D1Store.http(options));
    });
  }

  it("says what the API said, and when to try again", async () => {
    const api = await d1Api();
    const store = D1Store.http(api.options);
    api.fail(429, '{"success":false,"errors":[{"code":971,"message":"slow down"}]}', { "retry-after": "7" });
    await expect(store.query("SELECT 1")).rejects.toMatchObject({
      ...{ code: "store", message: "d1: query failed: slow down (code 971) (HTTP 429)" },
      ...{ status: 429, retryable: true, retryAfterMs: 7000 },
    });
    api.fail(502, "<html>Bad gateway</html>");
    await expect(store.query("SELECT 1")).rejects.toMatchObject({ status: 502, retryable: true });
    api.fail(200, "no JSON");
    await expect(store.query("SELECT 1")).rejects.toThrow(/no JSON/);
    const wrong = D1Store.http({ ...api.options, apiToken: "wrong" });
    await expect(wrong.get("k")).rejects.toMatchObject({ status: 401, retryable: false });
    await expect(wrong.get("k")).rejects.toThrow(/Authentication error \(code 10000\)/);
    const none = D1Store.http({ ...api.options, databaseId: "none" });
    await expect(none.get("k")).rejects.toThrow(/could not be found \(code 7404\)/);
    const away = D1Store.http({ ...api.options, baseUrl: "http://127.0.0.1:1" });
    await expect(away.get("k")).rejects.toMatchObject({ code: "store", retryable: true });
  });

  it("knows the failures that pass by what D1 says of them", async () => {
    const api = await d1Api();
    const store = D1Store.http(api.options);
    const said = (message: string) => JSON.stringify({ success: false, errors: [{ code: 7500, message }] });
    for (const [message, retryable] of [
      ["Network connection lost.", true],
      ["D1 DB reset because its code was updated.", true],
      ["Internal error in D1 DB storage caused object to be reset.", true],
      ["D1 DB storage operation exceeded timeout which caused object to be reset.", true],
      ["Cannot resolve D1 DB due to transient issue on remote node.", true],
      ["D1 DB is overloaded. Too many requests queued.", true],
      ["Exceeded maximum DB size.", false],
      ["no such table: t: SQLITE_ERROR", false],
    ] as const) {
      api.fail(400, said(message));
      await expect(store.query("SELECT 1")).rejects.toMatchObject({ code: "store", status: 400, retryable });
    }
    const binding = D1Store.binding({
      prepare: () => ({ bind: () => ({}) as never, all: async () => ({}) }),
      batch: async () => {
        throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    await expect(binding.batch([{ sql: "SELECT 1" }])).rejects.toMatchObject({ code: "store", retryable: true });
  });

  it("keeps to its prefix: several share a database", async () => {
    const { options } = await d1Api();
    const [a, b, none] = ["a_", "b_", undefined].map((prefix) => D1Store.http({ ...options, prefix })) as [
      D1Store,
      D1Store,
      D1Store,
    ];
    for (const [i, store] of [a, b, none].entries()) await store.set("k", i);
    expect(await Promise.all([a, b, none].map((store) => store.get("k")))).toEqual([0, 1, 2]);
    await (await new SqlDocumentStore(a).acquire("s" as SessionId)).release();
    const tables = await none.query<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
    const names = tables.map(({ name }) => name).filter((name) => !name.startsWith("sqlite_"));
    expect(names.filter((name) => !/^(a_|b_)?(kv_store|shedkit_)/.test(name))).toEqual([]);
    expect(names).toContain("a_shedkit_records");
    expect(names).not.toContain("shedkit_records");
    for (const prefix of ["1a", "a b", "a;", "x".repeat(61)]) {
      expect(() => D1Store.http({ ...options, prefix })).toThrow(/cannot be before the name of a table/);
    }
  });

  it("makes its tables again when the first time failed", async () => {
    const api = await d1Api();
    const store = D1Store.http(api.options);
    api.fail(500, "{}");
    await expect(store.get("k")).rejects.toMatchObject({ status: 500 });
    expect(await store.get("k")).toBeUndefined();
  });
});

describe("KvMemoryStore on D1 over HTTP", () => {
  for (const { name, run } of memoryStoreCases) {
    it(name, async () => run(new KvMemoryStore(D1Store.http((await d1Api()).options))));
  }
});

describe("R2Store over S3", () => {
  for (const { name, run } of blobStoreCases) it(name, async () => run(R2Store.s3(await s3Server())));

  it("keeps to its prefix", async () => {
    const options = await s3Server();
    await R2Store.s3({ ...options, prefix: "a/" }).put("k", Uint8Array.of(1));
    expect(await R2Store.s3({ ...options, prefix: "b/" }).get("k")).toBeUndefined();
    expect(await R2Store.s3(options).get("a/k")).toEqual(Uint8Array.of(1));
  });

  it("says what the server said", async () => {
    const options = await s3Server();
    const wrong = R2Store.s3({ ...options, secretAccessKey: "wrong" });
    await expect(wrong.put("k", Uint8Array.of(1))).rejects.toThrow(/r2: PUT failed: SignatureDoesNotMatch.*HTTP 403/);
    const none = R2Store.s3({ ...options, bucket: "none" });
    await expect(none.put("k", Uint8Array.of(1))).rejects.toThrow(/NoSuchBucket/);
    await expect(none.get("k")).rejects.toThrow(/there is no bucket "none"/);
    const away = R2Store.s3({ ...options, endpoint: "http://127.0.0.1:1" });
    await expect(away.get("k")).rejects.toMatchObject({ code: "store", retryable: true });
  });
});

describe("D1R2DocumentStore over HTTP", () => {
  const reopening = async () => {
    const [{ options }, s3] = await Promise.all([d1Api(), s3Server()]);
    return async () => new D1R2DocumentStore(D1Store.http(options), R2Store.s3(s3));
  };
  for (const { name, run } of documentStoreCases) it(name, async () => run(await (await reopening())()));
  for (const { name, run } of reopeningDocumentCases) it(name, async () => run(await reopening()));

  describe("with a prefix", () => {
    const open = async () => {
      const [{ options }, s3] = await Promise.all([d1Api(), s3Server()]);
      const d1 = D1Store.http({ ...options, prefix: "app_" });
      return new D1R2DocumentStore(d1, R2Store.s3({ ...s3, prefix: "app/" }));
    };
    for (const { name, run } of documentStoreCases) it(name, async () => run(await open()));
  });

  it("puts into R2 what D1 would not take, whatever characters it is made of", async () => {
    const store = await (await reopening())();
    const lease = await store.acquire("s" as SessionId);
    const texts = ["\u4eac".repeat(99_000), '"'.repeat(49_000), "\u4eac".repeat(1_000_000), "x".repeat(3_000_000)];
    const records = texts.map((text) => ({
      ...{ id: newId(), v: 1 as const, at: 1, type: "conversation" as const },
      message: Messages.user(text),
    }));
    await store.append(lease, records);
    const read: unknown[] = [];
    for await (const { record } of store.read(lease.session)) read.push(record);
    expect(read).toEqual(records);
    const rows = await store.storage.query("SELECT count(blob) AS blobs, count(body) AS bodies FROM shedkit_records");
    expect(rows).toEqual([{ blobs: 2, bodies: 2 }]);
  });
});
