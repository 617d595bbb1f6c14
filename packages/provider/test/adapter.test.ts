import { AgenticError, noUsage } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import {
  AnswerSink,
  type Attempt,
  argumentsObject,
  type CloudProviderConfig,
  drive,
  knownModel,
  priced,
  RequestLimit,
  readCallArguments,
  reasoningEffort,
  refusedParameter,
  refusesMedia,
  sdkFailure,
} from "../src/adapter.js";
import { type ModelEvent, Secret } from "../src/index.js";

const context = { provider: "p", model: "m" };
const config: CloudProviderConfig = { apiKey: new Secret("k"), maxRetries: 0 };
const sinkOf = () =>
  new AnswerSink({ name: (name) => name, decode: (_, args) => args, declares: () => true }, (usage) => usage);

/** An attempt whose stream yields texts. */
function attemptOf(
  texts: AsyncIterable<readonly string[]>,
  onOpen: (signal: AbortSignal) => void = () => {},
): () => Attempt<string> {
  return () => {
    const sink = sinkOf();
    return {
      sink,
      open: async (signal) => {
        onOpen(signal);
        return texts;
      },
      read: (text) => sink.text(0, text),
      done: () => {
        sink.finished = "stop";
      },
    };
  };
}

async function* each(...texts: string[]) {
  for (const text of texts) yield [text];
}

async function collect(events: AsyncIterable<ModelEvent>) {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("drive", () => {
  it("turns a fault of an adapter into a failure, and never throws", async () => {
    const attempt = () => {
      throw new TypeError("a bug");
    };
    const [event] = await collect(drive({ config, context, warnings: [], attempt }));
    expect(event).toMatchObject({ type: "failure", error: { code: "unexpected", message: "a bug" } });
  });

  it("leaves no listener on the request's signal, and aborts its own when it is done", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    let inner: AbortSignal | undefined;
    const attempt = attemptOf(each("a", "b"), (opened) => {
      inner = opened;
    });
    const limit = new RequestLimit({ concurrent: 1 });
    const events = await collect(
      drive({ config: { ...config, limit }, context: { ...context, signal }, warnings: [], attempt }),
    );
    expect(events.map(({ type }) => type)).toEqual(["start", "textDelta", "textDelta", "output", "finish"]);
    expect(listeners).toBe(0);
    expect(inner?.aborted).toBe(true);
  });

  it("gives its place back, also when its reader leaves", async () => {
    const limit = new RequestLimit({ concurrent: 1 });
    const attempt = attemptOf(each("a", "b"));
    for await (const event of drive({ config: { ...config, limit }, context, warnings: [], attempt })) {
      if (event.type === "textDelta") break;
    }
    const again = await collect(
      drive({ config: { ...config, limit }, context, warnings: [], attempt: attemptOf(each("c")) }),
    );
    expect(again.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });
});

describe("drive's waiting", () => {
  it("for a place ends when the reader leaves, and takes no place", async () => {
    const limit = new RequestLimit({ concurrent: 1 });
    const release = await limit.take();
    const events = drive({ config: { ...config, limit }, context, warnings: [], attempt: attemptOf(each("a")) });
    const first = events.next();
    expect(await events.return?.()).toEqual({ value: undefined, done: true });
    expect(await first).toEqual({ value: undefined, done: true });
    release();
    (await limit.take())();
  });

  it("for a turn in the minute ends when the reader leaves", async () => {
    const limit = new RequestLimit({ perMinute: 1, now: () => 0 });
    await limit.take();
    const events = drive({ config: { ...config, limit }, context, warnings: [], attempt: attemptOf(each("a")) });
    const first = events.next();
    await events.return?.();
    expect((await first).done).toBe(true);
  });

  it("for a repetition ends when the reader leaves, and leaves its place to others", async () => {
    const limit = new RequestLimit({ concurrent: 1 });
    const hour = 3_600_000;
    let onFailed = (): void => {};
    const failed = new Promise<void>((resolve) => {
      onFailed = resolve;
    });
    const attempt = (): Attempt<string> => ({
      sink: sinkOf(),
      open: async () => {
        onFailed();
        throw new AgenticError("generation", "busy", { kind: "overloaded", ...context }, { retryable: true });
      },
      read: () => {},
    });
    const retry = { initialDelayMs: hour, maxDelayMs: hour };
    const events = drive({
      config: { ...config, limit, maxRetries: 2, retry },
      context,
      warnings: [],
      attempt,
    });
    const first = events.next();
    await failed;
    (await limit.take())(); // while it waits for an hour
    await events.return?.();
    expect((await first).done).toBe(true);
  });

  it("counts repetitions in the limit of a minute", async () => {
    let begun = 0;
    class Counting extends RequestLimit {
      override take(signal?: AbortSignal) {
        begun++;
        return super.take(signal);
      }
    }
    const busy = new AgenticError("generation", "busy", { kind: "overloaded", ...context }, { retryable: true });
    const attempt = (): Attempt<string> => ({ sink: sinkOf(), open: async () => Promise.reject(busy), read: () => {} });
    const retry = { initialDelayMs: 0 };
    const limit = new Counting({});
    await collect(drive({ config: { ...config, limit, maxRetries: 2, retry }, context, warnings: [], attempt }));
    expect(begun).toBe(3);
  });
});

describe("drive's window", () => {
  const answered = async (window: number | undefined) => {
    const attempt = (): Attempt<string> => {
      const sink = sinkOf();
      return {
        sink,
        open: async () => each("a"),
        read: (text) => {
          sink.text(0, text);
          sink.usage({ input: 60, cacheRead: 50, output: 1 });
        },
        done: () => {
          sink.finished = "stop";
        },
      };
    };
    return (await collect(drive({ config, context, warnings: [], window, attempt }))).at(-1);
  };

  it("makes an answer to a longer prompt an overflow: the server has cut it", async () => {
    expect(await answered(109)).toMatchObject({ type: "failure", error: { details: { kind: "contextOverflow" } } });
    expect(await answered(110)).toEqual({ type: "finish", reason: "stop" });
    expect(await answered(undefined)).toEqual({ type: "finish", reason: "stop" });
  });
});

describe("drive's reader", () => {
  const streaming = (stream: AsyncIterable<readonly string[]>, signal?: AbortSignal, idleTimeoutMs?: number) =>
    drive({
      config: { ...config, idleTimeoutMs },
      context: { ...context, signal },
      warnings: [],
      attempt: attemptOf(stream),
    });

  it("gets the events in order, also when it asks for many at once", async () => {
    const events = streaming(each("a", "b"));
    const steps = await Promise.all(Array.from({ length: 7 }, () => events.next()));
    expect(steps.map(({ value }) => value?.type)).toEqual([
      "start",
      "textDelta",
      "textDelta",
      "output",
      "finish",
      undefined,
      undefined,
    ]);
  });

  it("gets nothing of a batch that it did not see before its abort", async () => {
    const controller = new AbortController();
    async function* batch() {
      yield ["a", "b", "c"];
    }
    const seen: ModelEvent[] = [];
    for await (const event of streaming(batch(), controller.signal)) {
      seen.push(event);
      if (event.type === "textDelta") controller.abort();
    }
    expect(seen).toMatchObject([
      { type: "start" },
      { type: "textDelta", text: "a" },
      { type: "output", output: { text: "a" } },
      { type: "failure", error: { code: "cancelled" } },
    ]);
  });

  it("may leave while a stream is awaited, which then is closed", async () => {
    let opened: (signal: AbortSignal) => void = () => {};
    const inner = new Promise<AbortSignal>((resolve) => {
      opened = resolve;
    });
    const attempt = (): Attempt<string> => ({
      sink: sinkOf(),
      open: (signal) => {
        opened(signal);
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        });
      },
      read: () => {},
    });
    const events = drive({ config, context, warnings: [], attempt });
    const pending = events.next();
    const { aborted } = await inner.then(async (signal) => {
      await events.return?.();
      return signal;
    });
    expect(aborted).toBe(true);
    expect(await pending).toEqual({ value: undefined, done: true });
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  it("may take longer than a stream may be silent", async () => {
    const idle = 40;
    const events = streaming(each("a", "b"), undefined, idle);
    const types: (string | undefined)[] = [];
    for await (const { type } of events) {
      types.push(type);
      // The time that the reader takes is what is tested here.
      if (types.length === 2) await new Promise((resolve) => setTimeout(resolve, idle * 3));
    }
    expect(types).toEqual(["start", "textDelta", "textDelta", "output", "finish"]);
  });
});

describe("drive's tries", () => {
  const busy = new AgenticError(
    "generation",
    "busy",
    { kind: "overloaded", provider: "p", model: "m" },
    { retryable: true },
  );

  /** Each try fails with `busy` after its texts, the last one ends well; returns what came and how many tries there were. */
  async function play(
    tries: readonly (readonly string[])[],
    ends: "well" | "badly",
    more: Partial<CloudProviderConfig> = {},
  ) {
    let used = 0;
    const attempt = (): Attempt<string> => {
      const sink = sinkOf();
      const texts = tries[used++] ?? [];
      const last = used === tries.length && ends === "well";
      return {
        sink,
        open: async () => each(...texts),
        read: (text) => (text === "usage" ? sink.usage({ input: used }) : sink.text(0, text)),
        done: () => {
          if (!last) throw busy;
          sink.finished = "stop";
        },
      };
    };
    const retry = { initialDelayMs: 0 };
    const events = await collect(drive({ config: { ...config, retry, ...more }, context, warnings: [], attempt }));
    return { types: events.map(({ type }) => type), used, last: events.at(-1) };
  }

  it("say `start` once, and go on until one goes through", async () => {
    const { types, used } = await play([[], ["usage"], ["a"]], "well", { maxRetries: 2 });
    expect(types).toEqual(["start", "textDelta", "output", "finish"]);
    expect(used).toBe(3);
  });

  it("end with the first that has begun", async () => {
    const { types, used } = await play([["a"], ["b"]], "well", { maxRetries: 2 });
    expect(types).toEqual(["start", "textDelta", "output", "failure"]);
    expect(used).toBe(1);
  });

  it("end with the last failure and its usage when they are used up", async () => {
    const { types, used, last } = await play([[], ["usage"], []], "badly", { maxRetries: 1 });
    expect(types).toEqual(["start", "usage", "failure"]);
    expect([used, last]).toEqual([2, { type: "failure", error: busy }]);
  });

  it("end when the request is aborted while one waits for the next", async () => {
    const controller = new AbortController();
    const attempt = (): Attempt<string> => ({
      sink: sinkOf(),
      open: async () => {
        queueMicrotask(() => controller.abort());
        throw busy;
      },
      read: () => {},
    });
    const retry = { initialDelayMs: 3_600_000, random: () => 0 };
    const slow = { ...config, maxRetries: 2, retry: { ...retry, maxDelayMs: 3_600_000 } };
    const events = await collect(
      drive({ config: slow, context: { ...context, signal: controller.signal }, warnings: [], attempt }),
    );
    expect(events).toMatchObject([{ type: "failure", error: { code: "cancelled" } }]);
  });
});

describe("RequestLimit", () => {
  it("lets so many through at a time, and the rest in turn", async () => {
    const limit = new RequestLimit({ concurrent: 2 });
    const order: number[] = [];
    const release = await limit.take();
    const second = await limit.take();
    const waiting = [3, 4].map(async (n) => {
      const done = await limit.take();
      order.push(n);
      done();
    });
    expect(order).toEqual([]);
    release();
    release(); // twice is once
    await Promise.all(waiting);
    expect(order).toEqual([3, 4]);
    second();
  });

  it("lets who waits leave, and does not lose its place", async () => {
    const limit = new RequestLimit({ concurrent: 1 });
    const release = await limit.take();
    const controller = new AbortController();
    const leaving = limit.take(controller.signal);
    const staying = limit.take();
    controller.abort();
    await expect(leaving).rejects.toSatisfy((error) => AgenticError.is(error, "cancelled"));
    release();
    (await staying)();
    (await limit.take())();
  });

  it("spreads beginnings over the minute, and gives a place back when the wait is aborted", async () => {
    const limit = new RequestLimit({ concurrent: 3, perMinute: 2, now: () => 1000 });
    await limit.take();
    await limit.take();
    const controller = new AbortController();
    const third = limit.take(controller.signal);
    controller.abort();
    await expect(third).rejects.toSatisfy((error) => AgenticError.is(error, "cancelled"));
  });

  it("begins at once when a minute has passed", async () => {
    let time = 0;
    const limit = new RequestLimit({ perMinute: 1, now: () => time });
    await limit.take();
    time = 60_000;
    await limit.take();
  });
});

describe("arguments", () => {
  it("are an object, or what came", () => {
    expect(readCallArguments(' {"a":1} ')).toEqual({ arguments: { a: 1 } });
    expect(readCallArguments("")).toEqual({ arguments: {} });
    const none = ["[1]", '"x"', "null", "{"];
    const changed = [
      '{"n":12345678901234567891}',
      '{"n":9007199254740993.0}',
      '{"n":90071992547409930e-1}',
      '{"n":[-9.007199254740993e15]}',
      '{"n":1e400}',
      '{"a":1,"\\u0061":2}',
      '{"l":[{"b":{"a":1},"a":1,"a":1}]}',
    ];
    for (const text of [...none, ...changed]) {
      expect(readCallArguments(text)).toEqual({ rawArguments: text });
    }
    const whole =
      '{"n":9007199254740992,"s":"12345678901234567891","f":0.1234567890123456789,"l":[{"n":{"n":"n"}},"\\"n\\":{"]}';
    expect(readCallArguments(whole)).toEqual({ arguments: JSON.parse(whole) });
  });

  it("go back as an object, whatever came", () => {
    const call = { type: "toolCall", id: "c", name: "t" } as const;
    expect(argumentsObject({ ...call, arguments: { a: 1 } })).toEqual({ a: 1 });
    expect(argumentsObject({ ...call, rawArguments: '{"a":1}' })).toEqual({ a: 1 });
    expect(argumentsObject({ ...call, rawArguments: "{oops" })).toEqual({ invalid_json: "{oops" });
    expect(argumentsObject(call)).toEqual({});
  });
});

describe("sdkFailure", () => {
  const thrown = (fields: object) => Object.assign(new Error("400 said"), fields);

  it("reads bodies in all their forms", () => {
    const text = (error: unknown) => sdkFailure(thrown({ status: 400, error }), context).message;
    expect(text({ type: "error", error: { type: "invalid_request_error", message: "a" } })).toContain(
      "(400 invalid_request_error): a",
    );
    expect(text({ code: "x", message: "b" })).toContain("(400 x): b");
    expect(text({ error: "c" })).toContain("c");
    expect(text({ detail: "d" })).toContain("d");
    expect(text(undefined)).toContain("said");
  });

  it("takes a broken event for a broken stream", () => {
    expect(sdkFailure(new SyntaxError("bad JSON"), context)).toMatchObject({
      details: { kind: "network" },
      retryable: true,
    });
  });
});

describe("models", () => {
  it("are known by their name, its dated versions, or the beginning of it, under what the configuration says", () => {
    const entry = (contextWindow: number) => ({ contextWindow, input: ["text"], tools: true }) as const;
    const table = { "m-": entry(1), "m-5": entry(2), "m-5.": entry(3) };
    const window = (name: string) => knownModel(name, table, {})?.contextWindow;
    expect(
      ["m-5", "m-5-2026-01-01", "m-5@20260101", "m-5-7", "m-5.4-mini", "m-5-mini", "m-55", "x"].map(window),
    ).toEqual([2, 2, 2, 1, 3, 1, 1, undefined]);
    const models = { "m-5": { tools: false }, own: { contextWindow: 9 } };
    expect(knownModel("m-5", table, { models })).toMatchObject({ contextWindow: 2, tools: false });
    expect(knownModel("own", table, { models })).toEqual({ contextWindow: 9 });
  });

  it("cost more for a long prompt, where their price says so", () => {
    const longPrompt = { aboveTokens: 100, inputPerMillion: 5, outputPerMillion: 50 };
    const price = { inputPerMillion: 1, outputPerMillion: 10, asOf: "2026-01-01", longPrompt };
    const cost = (input: number, cacheRead: number, cacheWrite: number) =>
      priced({ ...noUsage, input, cacheRead, cacheWrite, output: 1e6 }, price).costUsd;
    expect(cost(40, 30, 30)).toBeCloseTo(10.0001);
    expect(cost(40, 30, 31)).toBeCloseTo(50.000505);
  });

  it("cost what their price says, cached tokens at their own", () => {
    const usage = { ...noUsage, input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };
    const price = { inputPerMillion: 1, outputPerMillion: 10, asOf: "2026-01-01" };
    expect(priced(usage, price).costUsd).toBe(13);
    expect(priced(usage, { ...price, cacheReadPerMillion: 0.1, cacheWritePerMillion: 2 }).costUsd).toBeCloseTo(13.1);
    expect(priced(usage, undefined)).toBe(usage);
  });

  it("think as hard as they can be told to", () => {
    expect(["o3", "gpt-5-mini", "gpt-5.4"].map((name) => reasoningEffort("off", name))).toEqual([
      "low",
      "minimal",
      "none",
    ]);
    expect(reasoningEffort({ budgetTokens: 5000 }, "gpt-5.4")).toBe("medium");
    expect(reasoningEffort(undefined, "gpt-5.4")).toBeUndefined();
  });
});

describe("refusedParameter", () => {
  const body = { model: "m", temperature: 1, top_k: 2 };
  const spared = new Set(["model"]);
  const of = (message: string, more: object = {}) => refusedParameter({ status: 400, message, ...more }, body, spared);

  it("is the one that the error names, in a field or in words", () => {
    expect(of("Unsupported value", { param: "temperature" })).toBe("temperature");
    expect(of("Unknown field: top_k")).toBe("top_k");
  });

  it("is none where the error is another, or the parameter is needed", () => {
    expect(of("temperature must be positive")).toBeUndefined();
    expect(of("unsupported model")).toBeUndefined();
    expect(refusedParameter({ status: 500, message: "unknown temperature" }, body, spared)).toBeUndefined();
  });
});

describe("refusesMedia", () => {
  const withImage = [{ role: "user", content: [{ type: "image_url", image_url: { url: "u" } }] }];

  it.each([
    [400, "unknown variant `image_url`, expected `text`"],
    [404, "No endpoints found that support image input"],
    [400, "This model does not support image inputs."],
    [422, "Input should be 'text': messages.0.content.0.image_url"],
    [400, "m is not a multimodal model"],
  ])("takes %i %j for a model of text alone", (status, message) => {
    expect(refusesMedia({ status, message }, withImage)).toBe(true);
    expect(refusesMedia({ status, message }, [{ role: "user", content: "hi" }])).toBe(false);
  });

  it.each([
    [400, "image exceeds 5 MB maximum"],
    [400, "Could not process image"],
    [500, "image input not supported"],
    [400, "Unsupported parameter: temperature"],
  ])("does not take %i %j for one", (status, message) => {
    expect(refusesMedia({ status, message }, withImage)).toBe(false);
  });
});
