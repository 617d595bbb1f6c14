import { ProviderRouter } from "@shedkit/provider";
import { ScriptedProvider } from "@shedkit/testing";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { AgentSession, defaultErrorPolicy } from "../src/index.js";
import { CircuitBreaker } from "../src/loop/circuit-breaker.js";
import { ModelChain } from "../src/loop/recovery.js";
import { collect, generationError, sessionOf, transcript } from "./helpers.js";

/** A failure that may pass, to be tried again at once. */
function busy(): AgenticError {
  return new AgenticError(
    "generation",
    "Too many requests.",
    { kind: "rateLimit", provider: "scripted", model: "m" },
    { retryable: true, retryAfterMs: 0, status: 429 },
  );
}

describe("a model call that fails", () => {
  it("is tried again below the threshold, with what was shown withdrawn", async () => {
    const provider = new ScriptedProvider([["Half", { fail: busy() }], [{ fail: busy() }], "Whole."]);
    const session = await sessionOf(provider).build();
    const stream = session.runTurnStream("Hi");
    const events = await collect(stream.events());
    expect(events.filter((event) => event.type !== "progress")).toMatchObject([
      { type: "text", delta: "Half" },
      { type: "retract", reason: "Too many requests." },
      { type: "text", delta: "Whole." },
      { type: "done" },
    ]);
    const turn = await stream.done();
    expect(turn.text).toBe("Whole.");
    expect(turn.usage?.input).toBe(30); // what failed is counted
    expect(transcript(provider.requests[2]?.messages ?? [])).toEqual(["user: Hi"]);
  });

  it("ends the turn with its error once the threshold is reached and there is no other model", async () => {
    const error = busy();
    const provider = new ScriptedProvider(() => [{ fail: error }]);
    const session = await sessionOf(provider).build();
    expect((await session.runTurn("Hi")).failure).toBe(error);
    expect(provider.requests).toHaveLength(3);
  });

  it("goes to the fallbacks in their order, and the log says so", async () => {
    const one = new ScriptedProvider(() => [{ fail: busy() }], { id: "one", models: ["a"] });
    const two = new ScriptedProvider(() => [{ fail: generationError("server") }], { id: "two", models: ["b"] });
    const three = new ScriptedProvider(["From c."], { id: "three", models: ["c"] });
    const router = ProviderRouter.builder().provider(one).provider(two).provider(three).build();
    const session = await AgentSession.builder(router)
      .withModel("a")
      .withFallbackModels(["b", "c"])
      .withConfig({ circuitBreakerThreshold: 2 })
      .build();
    const turn = await session.runTurn("Hi");
    expect(turn.text).toBe("From c.");
    expect([one, two, three].map((provider) => provider.requests.length)).toEqual([2, 1, 1]);
    expect(turn.records.filter((record) => record.type === "modelSwitched")).toMatchObject([
      { from: "a", to: "b", reason: "Too many requests." },
      { from: "b", to: "c" },
    ]);
  });

  it("leaves a session with the fallback, also after a resume", async () => {
    const bad = new ScriptedProvider(() => [{ fail: generationError("server") }], { id: "bad", models: ["a"] });
    const good = new ScriptedProvider(["One.", "Two.", "Three."], { id: "good", models: ["b"] });
    const router = ProviderRouter.builder().provider(bad).provider(good).build();
    const builder = AgentSession.builder(router).withModel("a").withFallbackModels(["b"]).withSessionId("s");
    const session = await builder.build();
    await session.ask("Hi");
    await session.ask("Hi");
    await session.end();
    const again = await builder.build();
    expect((await again.ask("Hi")).text).toBe("Three.");
    expect(bad.requests).toHaveLength(1);
  });

  it("leaves a turn's own model alone, and the session where it was", async () => {
    const asked: string[] = [];
    const provider = new ScriptedProvider((request) => {
      asked.push(request.model.name);
      return request.model.name === "a" ? [{ fail: generationError("server") }] : "Yes.";
    });
    const session = await sessionOf(provider).withModel("a").withFallbackModels(["b"]).build();
    await session.ask("1");
    await session.ask("2", { model: "c" });
    await session.ask("3");
    expect(asked).toEqual(["a", "b", "c", "b"]);
    expect((await collect(session.docStore.read(session.sessionId))).map(({ record }) => record.type)).not.toContain(
      "retracted",
    );
  });

  it("of a turn's own model takes the next turn to no fallback", async () => {
    const asked: string[] = [];
    const provider = new ScriptedProvider((request) => {
      asked.push(request.model.name);
      return request.model.name === "c" ? [{ fail: generationError("server") }] : "Yes.";
    });
    const session = await sessionOf(provider).withModel("a").withFallbackModels(["b"]).build();
    expect((await session.ask("1", { model: "c" })).text).toBe("Yes.");
    await session.ask("2");
    expect(asked).toEqual(["c", "b", "a"]);
  });

  it("keeps what was said where the error policy fails, and tells of both", async () => {
    const provider = new ScriptedProvider([["partial ", { fail: generationError("server") }]]);
    const classify = () => {
      throw new Error("it broke");
    };
    const session = await sessionOf(provider).withErrorPolicy({ classify }).build();
    const turn = await session.runTurn("Hi");
    expect(turn.text).toBe("partial ");
    expect(turn.usage).toBeDefined();
    expect(turn.failure).toMatchObject({ code: "session", cause: { code: "generation" } });
    expect(turn.failure?.message).toMatch(/it broke.*It failed: server/);
  });

  it("does what the error policy says", async () => {
    const provider = new ScriptedProvider([[{ fail: busy() }]]);
    const session = await sessionOf(provider)
      .withErrorPolicy({
        classify: (error) => (error.status === 429 ? { type: "terminate" } : defaultErrorPolicy.classify(error)),
      })
      .build();
    expect((await session.runTurn("Hi")).failure?.code).toBe("generation");
    expect(provider.requests).toHaveLength(1);
  });

  it("is left for a fallback where the backend is not there, and ends the turn where there is none", async () => {
    const absent = new AgenticError("provider", "There is no file m.gguf.", {});
    const provider = new ScriptedProvider([[{ fail: absent }], "From another."]);
    const session = await sessionOf(provider).withFallbackModels(["n"]).build();
    expect((await session.ask("Hi")).text).toBe("From another.");
    expect(provider.requests).toHaveLength(2);
    const alone = new ScriptedProvider([[{ fail: absent }], "Never."]);
    expect((await (await sessionOf(alone).build()).runTurn("Hi")).failure?.code).toBe("provider");
    expect(alone.requests).toHaveLength(1);
  });

  it("is not tried again where trying cannot help", async () => {
    for (const kind of ["badRequest", "refusal", "other"] as const) {
      const provider = new ScriptedProvider([[{ fail: generationError(kind, true) }], "Never."]);
      const session = await sessionOf(provider).withFallbackModels(["n"]).build();
      expect((await session.runTurn("Hi")).failure).toMatchObject({ details: { kind } });
    }
  });

  it("is not waited for when the turn is aborted or steered meanwhile", async () => {
    const slow = new AgenticError(
      "generation",
      "Wait.",
      { kind: "rateLimit", provider: "scripted", model: "m" },
      { retryable: true, retryAfterMs: 50_000 },
    );
    for (const interrupt of ["abort", "steer"] as const) {
      const provider = new ScriptedProvider([[{ fail: slow }], "Answered."]);
      const session = await sessionOf(provider).build();
      for await (const item of session.runTurnStream("Hi")) {
        if (item.type !== "record" || item.record.type !== "step" || provider.requests.length > 1) continue;
        if (interrupt === "abort") session.abort();
        else session.steer("Now");
      }
      expect(provider.requests).toHaveLength(interrupt === "abort" ? 1 : 2);
    }
  });
});

describe("the circuit breaker", () => {
  it("tells below the threshold from reached, and counts only failures in a row", () => {
    const breaker = new CircuitBreaker(3);
    expect(breaker.failed(true)).toEqual({ type: "notReached", failures: 1 });
    breaker.succeeded();
    expect(breaker.failed(true)).toEqual({ type: "notReached", failures: 1 });
    expect(breaker.failed(true)).toEqual({ type: "notReached", failures: 2 });
    expect(breaker.failed(true)).toEqual({ type: "reached" });
    expect(breaker.failed(false)).toEqual({ type: "reached" });
  });
});

describe("the way back to the first model", () => {
  const chain = (now: number) =>
    new ModelChain(["a", "b"], {
      policy: defaultErrorPolicy,
      threshold: 1,
      switched: { from: "a", to: "b", at: 0 },
      now,
    });

  it("is tried after a minute, and taken when it answers", () => {
    expect(chain(59_999).current).toBe("b");
    const models = chain(60_000);
    expect(models.current).toBe("a");
    expect(models.succeeded()).toMatchObject({ type: "switch", from: "b", to: "a" });
    expect(models.current).toBe("a");
    expect(models.succeeded()).toBeUndefined();
  });

  it("is left at once when it fails", () => {
    const models = chain(60_000);
    expect(models.failed(generationError("server"))).toEqual({ type: "back" });
    expect(models.current).toBe("b");
    expect(models.failed(generationError("server"))).toEqual({ type: "giveUp" }); // there is no third
  });
});
