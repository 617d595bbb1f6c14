import type { BlobStore } from "@shedkit/store";
import { storeError } from "@shedkit/store/backend";
import { AwsClient } from "aws4fetch";
import type { R2Binding } from "./bindings.js";
import { type Answer, type Fetch, refusal, send } from "./http.js";

/** Where an R2 bucket is, for access through its S3 interface. */
export interface R2S3Options {
  /** `https://ACCOUNT_ID.r2.cloudflarestorage.com`, or any other server of S3's kind. */
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Before every key. Default: none. */
  prefix?: string | undefined;
  /** Default: the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** The two ways to an R2 bucket. */
interface R2Access {
  put(key: string, data: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | undefined>;
  has(key: string): Promise<boolean>;
  delete(key: string): Promise<void>;
}

/**
 * A Cloudflare R2 bucket as blob store: inside a Worker by its binding, elsewhere through S3. Failures are AgenticError
 * `store`.
 */
export class R2Store implements BlobStore {
  readonly #access: R2Access;
  readonly #prefix: string;

  private constructor(access: R2Access, prefix: string) {
    this.#access = access;
    this.#prefix = prefix;
  }

  /** The bucket of a Worker's binding: `R2Store.binding(env.BUCKET)`. */
  static binding(bucket: R2Binding, options: { prefix?: string | undefined } = {}): R2Store {
    return new R2Store(
      {
        put: async (key, data) => {
          await bucket.put(key, data);
        },
        get: async (key) => {
          const object = await bucket.get(key);
          return object === null ? undefined : new Uint8Array(await object.arrayBuffer());
        },
        has: async (key) => (await bucket.head(key)) !== null,
        delete: (key) => bucket.delete(key),
      },
      options.prefix ?? "",
    );
  }

  /** The bucket through its S3 interface, from anywhere. */
  static s3(options: R2S3Options): R2Store {
    const { endpoint, bucket, accessKeyId, secretAccessKey } = options;
    const { fetch = (request) => globalThis.fetch(request) } = options;
    const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: "auto" });
    /** Statuses in `expected` are answers, too. */
    const call = async (method: string, key: string, expected: number[], body?: Uint8Array): Promise<Answer> => {
      const path = key.split("/").map(encodeURIComponent).join("/");
      const url = `${endpoint.replace(/\/$/, "")}/${encodeURIComponent(bucket)}/${path}`;
      const init = body === undefined ? { method } : { method, body: new Uint8Array(body) };
      const answer = await send(await client.sign(url, init), fetch, "r2", method);
      if (answer.status < 300 || expected.includes(answer.status)) return answer;
      throw refusal(answer, reasonOf(answer), "r2", method);
    };
    return new R2Store(
      {
        put: async (key, data) => {
          await call("PUT", key, [], data);
        },
        get: async (key) => {
          const { status, body } = await call("GET", key, [404]);
          // A bucket that is not there is no answer to the question whether it holds the key.
          if (status === 404 && /NoSuchBucket/.test(new TextDecoder().decode(body))) {
            throw new Error(`there is no bucket "${bucket}"`);
          }
          return status === 404 ? undefined : body;
        },
        has: async (key) => (await call("HEAD", key, [404])).status !== 404,
        delete: async (key) => {
          await call("DELETE", key, [404]);
        },
      },
      options.prefix ?? "",
    );
  }

  async put(key: string, data: Uint8Array): Promise<void> {
    await failing("put", () => this.#access.put(this.#prefix + key, data));
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return failing("get", () => this.#access.get(this.#prefix + key));
  }

  async delete(key: string): Promise<boolean> {
    return failing("delete", async () => {
      if (!(await this.#access.has(this.#prefix + key))) return false;
      await this.#access.delete(this.#prefix + key);
      return true;
    });
  }
}

/** S3 says why in XML. */
function reasonOf({ body }: Answer): string {
  const text = new TextDecoder().decode(body);
  const [, code = ""] = /<Code>(.*?)<\/Code>/s.exec(text) ?? [];
  const [, message = ""] = /<Message>(.*?)<\/Message>/s.exec(text) ?? [];
  return [code, message].filter(Boolean).join(": ") || text.slice(0, 200) || "no reason given";
}

async function failing<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, "r2", operation);
  }
}
