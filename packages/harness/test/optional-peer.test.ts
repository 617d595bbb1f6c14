import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { optionalPeer } from "../src/optional-peer.js";

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a package that need not be installed", () => {
  it("is asked for with the line that installs it", async () => {
    const name = "@shedkit/not-there";
    const missing = Object.assign(new Error(`Cannot find package '${name}' imported from x.js`), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    const error = await rejection(optionalPeer(name, () => Promise.reject(missing)));
    expect(AgenticError.is(error, "provider") && error.details).toEqual({ package: name, install: `npm i ${name}` });
    expect((error as Error).message).toContain(`npm i ${name}`);
    expect((error as Error).cause).toBe(missing);
  });

  it("that is there but fails keeps its own error", async () => {
    const broken = new TypeError("x is not a function");
    expect(await rejection(optionalPeer("p", () => Promise.reject(broken)))).toBe(broken);
    const other = Object.assign(new Error("Cannot find package 'q' imported from p"), { code: "ERR_MODULE_NOT_FOUND" });
    expect(await rejection(optionalPeer("@shedkit/p", () => Promise.reject(other)))).toBe(other);
  });
});
