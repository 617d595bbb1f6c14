import { expect, expectTypeOf, it } from "vitest";
import { AgenticError } from "../src/index.js";

it("tells its code, its details and how it came about, without stacks", () => {
  const cause = new Error("connect ECONNREFUSED", { cause: "refused" });
  const error = new AgenticError(
    "generation",
    "The model did not answer.",
    { kind: "network", provider: "p", model: "m" },
    { cause, retryable: true, status: 503, retryAfterMs: 1000 },
  );
  expect(error).toMatchObject({ name: "AgenticError", retryable: true, status: 503, retryAfterMs: 1000 });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code: "generation",
    message: "The model did not answer.",
    details: { kind: "network", provider: "p", model: "m" },
    status: 503,
    causes: [
      { name: "Error", message: "connect ECONNREFUSED" },
      { name: "string", message: "refused" },
    ],
  });
});

it("is recognised by its mark, also from another copy of the package, and by code", () => {
  const error: unknown = new AgenticError("auth", "No key.", { provider: "p" });
  expect(AgenticError.is(error)).toBe(true);
  expect(AgenticError.is(error, "auth")).toBe(true);
  expect(AgenticError.is(error, "session")).toBe(false);
  const other = Object.assign(new Error("x"), { code: "auth", [Symbol.for("shedkit.AgenticError")]: true });
  expect(AgenticError.is(other, "auth")).toBe(true);
  expect(AgenticError.is(new Error("x"))).toBe(false);
  expect(AgenticError.is(null)).toBe(false);
  if (AgenticError.is(error, "auth")) expectTypeOf(error.details).toEqualTypeOf<{ provider: string }>();
});

it("ends a circle of causes", () => {
  const a = new Error("a");
  a.cause = a;
  expect(new AgenticError("unexpected", "x", {}, { cause: a }).toJSON().causes.length).toBeLessThan(20);
});

it("wraps what is not one, and leaves what is", () => {
  const error = new AgenticError("session", "x", { reason: "x" });
  expect(AgenticError.from(error)).toBe(error);
  expect(AgenticError.from(new TypeError("bad"))).toMatchObject({ code: "unexpected", message: "bad" });
  expect(AgenticError.from("text").message).toContain("text");
  expect(AgenticError.from(undefined).message).toContain("undefined");
});
