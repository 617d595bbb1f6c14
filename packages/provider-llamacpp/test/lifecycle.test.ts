import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyGguf } from "@shedkit/testing";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { importBinding } from "../src/binding.js";
import { collect, cpuProvider, folder, only, outputs, request, tinyModel } from "./helpers.js";

const hello = tinyModel({ says: ["Hello", " there"] });
const endless = tinyModel({ says: ["tick ", "tack "], forever: true, contextLength: 100_000 });

describe("abort", () => {
  it("ends a running answer, with what there was and its usage, and leaves the session usable", async () => {
    const provider = cpuProvider({ sequences: 1 });
    const abort = new AbortController();
    const events = [];
    let deltas = 0;
    for await (const event of provider.stream(request(endless, ["Hi"], { session: "s", signal: abort.signal }))) {
      events.push(event);
      if (event.type === "textDelta" && ++deltas === 5) abort.abort(new Error("enough"));
    }
    const said = events.flatMap((event) => (event.type === "textDelta" ? [event.text] : [])).join("");
    expect(deltas).toBe(5);
    expect(outputs(events)).toEqual([{ type: "text", text: said }]);
    expect(events.slice(-2).map((event) => event.type)).toEqual(["usage", "failure"]);
    expect(only(events, "failure").error).toMatchObject({ code: "cancelled", details: { reason: "enough" } });
    // At most the token that was in work when the abort came.
    expect([5, 6]).toContain(only(events, "usage").usage.output);

    const again = await collect(provider.stream(request(endless, ["Hi"], { session: "s", params: { maxTokens: 2 } })));
    expect(only(again, "finish").reason).toBe("length");
    expect(only(again, "usage").usage.cacheRead).toBeGreaterThan(0);
  });

  it("before the request is one failure, and loads nothing", async () => {
    let resolved = 0;
    const provider = cpuProvider({
      resolve: async () => {
        resolved++;
        return { path: hello, bytes: 1 };
      },
    });
    const events = await collect(provider.stream(request("m", ["Hi"], { signal: AbortSignal.abort(new Error("no")) })));
    expect(events).toMatchObject([{ type: "failure", error: { code: "cancelled" } }]);
    expect(resolved).toBe(0);
  });

  it("while the model is fetched stops the fetch, once nobody else waits for it", async () => {
    const aborted: string[] = [];
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const provider = cpuProvider({
      resolve: (name, { signal }) =>
        new Promise((_, reject) => {
          begin();
          signal.addEventListener("abort", () => {
            aborted.push(name);
            reject(signal.reason);
          });
        }),
    });
    const [a, b] = [new AbortController(), new AbortController()];
    const one = collect(provider.stream(request("m", ["Hi"], { signal: a.signal })));
    const two = collect(provider.stream(request("m", ["Hi"], { signal: b.signal })));
    await begun;
    a.abort();
    expect(only(await one, "failure").error.code).toBe("cancelled");
    expect(aborted).toEqual([]);
    b.abort();
    expect(only(await two, "failure").error.code).toBe("cancelled");
    expect(aborted).toEqual(["m"]);
  });

  it("happens when the reader leaves, and others get the sequence", async () => {
    const provider = cpuProvider({ sequences: 1 });
    for await (const event of provider.stream(request(endless, ["Hi"]))) if (event.type === "textDelta") break;
    const events = await collect(provider.stream(request(endless, ["Hi"], { params: { maxTokens: 1 } })));
    expect(only(events, "finish").reason).toBe("length");
  });
});

describe("several at once", () => {
  it("load the model once and answer side by side", async () => {
    let resolved = 0;
    const provider = cpuProvider({
      sequences: 2,
      resolve: async () => {
        resolved++;
        return { path: hello, bytes: readFileSync(hello).length };
      },
    });
    const ask = (session: string) => collect(provider.stream(request("m", ["Hi"], { session })));
    const answers = await Promise.all(["a", "b", "c", "d", "e"].map(ask));
    expect(answers.map((events) => outputs(events))).toEqual(
      Array.from({ length: 5 }, () => [{ type: "text", text: "Hello there" }]),
    );
    expect(resolved).toBe(1);
    expect(provider.serves({ name: "m" })).toBe("yes");
  });

  it("take turns token by token, so that a long answer holds up nobody", async () => {
    const provider = cpuProvider({ sequences: 2 });
    const stop = new AbortController();
    const long = collect(provider.stream(request(endless, ["Hi"], { session: "long", signal: stop.signal })));
    const short = request(endless, ["Hi"], { session: "short", params: { maxTokens: 20 } });
    expect(only(await collect(provider.stream(short)), "finish").reason).toBe("length");
    stop.abort();
    expect(only(await long, "usage").usage.output).toBeGreaterThan(10);
  });

  it("get equally many tokens meanwhile", async () => {
    const provider = cpuProvider({ sequences: 2 });
    const counts = [0, 0];
    const apart: number[] = [];
    const started: (() => void)[] = [];
    const bothRun = Promise.all([0, 1].map((i) => new Promise<void>((resolve) => (started[i] = resolve))));
    const run = async (i: number) => {
      const asked = request(endless, ["Hi"], { session: `${i}`, params: { maxTokens: 80 } });
      for await (const event of provider.stream(asked)) {
        if (event.type !== "textDelta") continue;
        if (counts[i] === 0) {
          started[i]?.();
          await bothRun; // the other one's prompt is evaluated first
        }
        counts[i] = (counts[i] ?? 0) + 1;
        if (counts.every((count) => count > 0 && count < 80)) apart.push(Math.abs((counts[0] ?? 0) - (counts[1] ?? 0)));
      }
    };
    await Promise.all([run(0), run(1)]);
    expect(counts).toEqual([80, 80]);
    expect(apart.length).toBeGreaterThan(100);
    expect(Math.max(...apart)).toBeLessThanOrEqual(10);
  });

  it("wait where there is one sequence, and can be told not to", async () => {
    const provider = cpuProvider({ sequences: 1 });
    const stop = new AbortController();
    const running = provider.stream(request(endless, ["Hi"], { session: "a", signal: stop.signal }));
    while ((await running.next()).value?.type !== "textDelta");
    const impatient = new AbortController();
    const waiting = collect(provider.stream(request(endless, ["Hi"], { session: "b", signal: impatient.signal })));
    const patient = collect(provider.stream(request(endless, ["Hi"], { session: "c", params: { maxTokens: 1 } })));
    impatient.abort();
    expect(only(await waiting, "failure").error.code).toBe("cancelled");
    stop.abort();
    for await (const _ of running);
    expect(only(await patient, "finish").reason).toBe("length");
  });
});

describe("a model that cannot be loaded", () => {
  const file = (name: string, bytes: Uint8Array | string) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const whole = tinyGguf();
  mkdirSync(join(folder, "folder.gguf"), { recursive: true });

  it.each([
    ["a missing file", join(folder, "missing.gguf")],
    ["a folder", join(folder, "folder.gguf")],
    ["an empty file", file("empty.gguf", "")],
    ["a foreign file", file("foreign.gguf", "<html>no model</html>")],
    ["half a header", file("header.gguf", whole.subarray(0, 2000))],
    ["half the weights", file("half.gguf", whole.subarray(0, whole.length / 2))],
  ])("%s: one clear failure", async (_, path) => {
    const events = await collect(cpuProvider().stream(request(path, ["Hi"])));
    const { error } = only(events, "failure");
    expect(events).toHaveLength(1);
    expect(error.code).toBe("provider");
    expect(error.message).toContain(path);
    expect(error.message).not.toContain("\n");
  });

  it("that llama.cpp refuses is named as well, and does no harm to the next", async () => {
    const provider = cpuProvider({ resolve: async (name) => ({ path: name, bytes: 1000 }) });
    const broken = file("broken.gguf", whole.subarray(0, whole.length / 2));
    const { error } = only(await collect(provider.stream(request(broken, ["Hi"]))), "failure");
    expect(error.message).toMatch(/^llama\.cpp cannot load .*broken\.gguf: /);
    expect(outputs(await collect(provider.stream(request(hello, ["Hi"]))))).toHaveLength(1);
  });

  it("is tried again by the next request", async () => {
    let tries = 0;
    const provider = cpuProvider({
      resolve: async () => {
        if (++tries === 1) throw new AgenticError("provider", "not now", {});
        return { path: hello, bytes: 1000 };
      },
    });
    expect(only(await collect(provider.stream(request("m", ["Hi"]))), "failure").error.message).toBe("not now");
    expect(outputs(await collect(provider.stream(request("m", ["Hi"]))))).toHaveLength(1);
  });

  it("says how node-llama-cpp is installed where it is missing", async () => {
    const missing = Object.assign(new Error("Cannot find package 'node-llama-cpp'"), { code: "ERR_MODULE_NOT_FOUND" });
    await expect(importBinding(() => Promise.reject(missing))).rejects.toMatchObject({
      code: "provider",
      message: "Local models need node-llama-cpp, which is not installed; install it with: npm i node-llama-cpp",
      details: { package: "node-llama-cpp", install: "npm i node-llama-cpp" },
    });
  });
});

it("unloads a model when its answers are over, and loads it again when it is asked for", async () => {
  const provider = cpuProvider();
  const stop = new AbortController();
  const running = collect(provider.stream(request(endless, ["Hi"], { session: "a", signal: stop.signal })));
  await collect(provider.stream(request(endless, ["Hi"], { params: { maxTokens: 1 } })));
  const unloaded = provider.unload(endless);
  stop.abort();
  await Promise.all([running, unloaded]);
  const events = await collect(provider.stream(request(endless, ["Hi"], { session: "a", params: { maxTokens: 1 } })));
  expect(events.some((event) => event.type === "loading")).toBe(true);
  expect(only(events, "usage").usage.cacheRead).toBe(0);
  await provider.unload("never/loaded");
});

it("tells which models it may have", () => {
  const provider = cpuProvider();
  expect(provider.serves({ name: "./model.gguf" })).toBe("yes");
  expect(provider.serves({ name: "owner/repo:Q4_K_M" })).toBe("unknown");
  expect(provider.serves({ name: "claude-sonnet-4-6" })).toBe("no");
});

it("closes while it answers: the answer ends, everything is freed, and nothing is begun again", async () => {
  const provider = cpuProvider();
  const running = collect(provider.stream(request(endless, ["Hi"])));
  await collect(provider.stream(request(endless, ["Hi"], { params: { maxTokens: 1 } })));
  await provider.close();
  expect(only(await running, "failure").error.code).toBe("cancelled");
  expect(only(await collect(provider.stream(request(hello, ["Hi"]))), "failure").error.message).toContain("was closed");
  await provider.close();
});
