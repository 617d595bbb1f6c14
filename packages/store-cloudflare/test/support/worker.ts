// A Worker that runs the cases of the conformance kit on its own bindings: /KIND/NUMBER.
import { KvMemoryStore } from "@shedkit/store";
import {
  blobStoreCases,
  documentStoreCases,
  keyValueStoreCases,
  memoryStoreCases,
  queryStoreCases,
  reopeningDocumentCases,
  reopeningKeyValueCases,
} from "@shedkit/store/conformance";
import { type D1Binding, D1R2DocumentStore, D1Store, type R2Binding, R2Store } from "../../src/index.js";

interface Env {
  DB: D1Binding;
  BUCKET: R2Binding & { list(): Promise<{ objects: { key: string }[] }> };
}

const documents = ({ DB, BUCKET }: Env) =>
  new D1R2DocumentStore(D1Store.binding(DB), R2Store.binding(BUCKET, { prefix: "agent/" }));

const kinds: { [kind: string]: readonly { name: string; run(env: Env): Promise<void> }[] } = {
  D1R2DocumentStore: [
    ...documentStoreCases.map(({ name, run }) => ({ name, run: (env: Env) => run(documents(env)) })),
    ...reopeningDocumentCases.map(({ name, run }) => ({ name, run: (env: Env) => run(async () => documents(env)) })),
  ],
  D1Store: [
    ...keyValueStoreCases.map(({ name, run }) => ({ name, run: (env: Env) => run(D1Store.binding(env.DB)) })),
    ...queryStoreCases.map(({ name, run }) => ({ name, run: (env: Env) => run(D1Store.binding(env.DB)) })),
    ...reopeningKeyValueCases.map(({ name, run }) => ({
      name,
      run: (env: Env) => run(async () => D1Store.binding(env.DB)),
    })),
  ],
  "D1Store with a prefix": keyValueStoreCases.map(({ name, run }) => ({
    name,
    run: (env: Env) => run(D1Store.binding(env.DB, { prefix: "app_" })),
  })),
  KvMemoryStore: memoryStoreCases.map(({ name, run }) => ({
    name,
    run: (env: Env) => run(new KvMemoryStore(D1Store.binding(env.DB))),
  })),
  R2Store: blobStoreCases.map(({ name, run }) => ({ name, run: (env: Env) => run(R2Store.binding(env.BUCKET)) })),
  "code from strings": [
    {
      name: "is forbidden here",
      run: async () => {
        try {
          new Function("return 1");
        } catch {
          return;
        }
        throw new Error("this Worker may make code from strings, so these tests do not show that the stores make none");
      },
    },
  ],
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, kind = "", number = ""] = new URL(request.url).pathname.split("/").map(decodeURIComponent);
    if (kind === "") {
      return Response.json(
        Object.fromEntries(Object.entries(kinds).map(([k, cases]) => [k, cases.map((c) => c.name)])),
      );
    }
    await empty(env);
    try {
      await kinds[kind]?.[Number(number)]?.run(env);
      return new Response("ok");
    } catch (error) {
      const { message, stack, cause } = error as Error;
      return new Response(`${message}\n${stack}\n${cause}`, { status: 500 });
    }
  },
};

async function empty({ DB, BUCKET }: Env): Promise<void> {
  const tables = ["words", "records", "sessions", "owners", "schema"].map((name) => `shedkit_${name}`);
  const all = [...tables, "kv_store"].flatMap((name) => [name, `app_${name}`]);
  await DB.batch([...all, "t"].map((name) => DB.prepare(`DROP TABLE IF EXISTS ${name}`)));
  for (const { key } of (await BUCKET.list()).objects) await BUCKET.delete(key);
}
