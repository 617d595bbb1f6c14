import { spawnSync } from "node:child_process";
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

  it("is asked for together with what it needs in turn", async () => {
    const [name, beside] = ["@shedkit/not-there", "engine"];
    const missing = Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" });
    const error = await rejection(optionalPeer(name, () => Promise.reject(missing), beside));
    expect((error as Error).message).toMatch(/install it with: npm i @shedkit\/not-there engine$/);
  });

  it("is recognised by what Node really says", async () => {
    const name = "@shedkit/not-there";
    const script = `import(${JSON.stringify(name)}).catch(({ code, message }) => console.log(JSON.stringify({ code, message })))`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    const real = JSON.parse(stdout) as { code: string; message: string };
    const error = await rejection(optionalPeer(name, () => Promise.reject(Object.assign(new Error(), real))));
    expect(AgenticError.is(error, "provider")).toBe(true);
  });

  it("that is there but fails keeps its own error", async () => {
    const broken = new TypeError("x is not a function");
    expect(await rejection(optionalPeer("p", () => Promise.reject(broken)))).toBe(broken);
    const other = Object.assign(new Error("Cannot find package 'q' imported from p"), { code: "ERR_MODULE_NOT_FOUND" });
    expect(await rejection(optionalPeer("@shedkit/p", () => Promise.reject(other)))).toBe(other);
  });
});
