import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { type ModelProvider, ProviderRouter } from "../src/index.js";

function provider(id: string, models: readonly string[] | "unknown"): ModelProvider & { closed: number } {
  return {
    id,
    closed: 0,
    serves: ({ name }) => (models === "unknown" ? "unknown" : models.includes(name) ? "yes" : "no"),
    async *stream() {},
    async close() {
      this.closed++;
    },
  };
}

function thrown(run: () => unknown): AgenticError<"routing"> {
  try {
    run();
  } catch (error) {
    if (AgenticError.is(error, "routing")) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("ProviderRouter", () => {
  it("sends everything to a single provider, except what it does not serve", () => {
    const sure = provider("sure", ["a"]);
    expect(ProviderRouter.single(sure).resolve("a")).toBe(sure);
    expect(thrown(() => ProviderRouter.single(sure).resolve("b")).details).toEqual({
      model: "b",
      candidates: ["sure"],
    });
    const silent = provider("silent", "unknown");
    expect(ProviderRouter.single(silent).resolve("anything/at:all")).toBe(silent);
  });

  it("prefers a rule to what providers say, and the first of two that serve a model", () => {
    const [one, two] = [provider("one", ["m", "n"]), provider("two", ["m", "n"])];
    const router = ProviderRouter.builder().provider(one).provider(two).rule("n", "two").build();
    expect(router.resolve("m")).toBe(one);
    expect(router.resolve("n")).toBe(two);
  });

  it("matches rules in order, a regular expression anywhere in the name, a global one every time", () => {
    const [one, two] = [provider("one", "unknown"), provider("two", "unknown")];
    const router = ProviderRouter.builder().provider(one).provider(two).rule("x-1", "two").rule(/x/g, "one").build();
    expect(router.resolve("x-1")).toBe(two);
    expect([router.resolve("x-2"), router.resolve("x-2")]).toEqual([one, one]);
  });

  it("gives a provider that cannot say what it serves nothing without a rule, and says how to write it", () => {
    const router = ProviderRouter.builder().provider(provider("a", [])).provider(provider("b", "unknown")).build();
    const error = thrown(() => router.resolve("m"));
    expect(error.message).toContain('.rule("m", "b")');
    expect(error.details.candidates).toEqual(["b"]);
  });

  it("resolves aliases and groups to the model that the request must name", () => {
    const one = provider("one", ["big", "small"]);
    const router = ProviderRouter.builder()
      .provider(one)
      .alias("fast", "cheap")
      .group("cheap", ["gone", "small", "big"])
      .build();
    expect(router.route("fast")).toEqual({ provider: one, model: { name: "small" } });
    expect(router.route({ name: "cheap", kind: "group" }).model).toEqual({ name: "small" });
    expect(thrown(() => router.route({ name: "cheap", kind: "alias" })).details.candidates).toContain("fast");
    expect(thrown(() => router.route({ name: "small", kind: "group" })).details.model).toBe("small");
  });

  it("takes a model's own name before an alias of that name", () => {
    const one = provider("one", ["a", "b"]);
    expect(ProviderRouter.builder().provider(one).alias("a", "b").build().route("a").model).toEqual({ name: "a" });
  });

  it("takes an alias before asking a single provider that cannot say", () => {
    const router = ProviderRouter.builder().provider(provider("s", "unknown")).alias("fast", "m").build();
    expect(router.route("fast").model).toEqual({ name: "m" });
  });

  it("refuses to be built without providers, with two of one id, with a rule for none, or with a circle", () => {
    const a = provider("a", []);
    expect(thrown(() => ProviderRouter.builder().build()).message).toContain(".provider(");
    expect(thrown(() => ProviderRouter.builder().provider(a).provider(a).build()).message).toContain('"a"');
    const ruled = thrown(() => ProviderRouter.builder().provider(a).rule(/^gpt/, "openai").build());
    expect(ruled.message).toContain("/^gpt/");
    expect(ruled.details.candidates).toEqual(["a"]);
    const circle = ProviderRouter.builder().provider(a).alias("x", "y").group("y", ["z", "x"]);
    expect(thrown(() => circle.build()).message).toContain("x -> y -> x");
  });

  it("closes every provider", async () => {
    const [one, two] = [provider("one", []), provider("two", [])];
    await ProviderRouter.builder().provider(one).provider(two).build().close();
    expect([one.closed, two.closed]).toEqual([1, 1]);
  });
});
