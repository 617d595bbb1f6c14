import { fileURLToPath } from "node:url";
import { ToolShed } from "@shedkit/shed";
import { FnTool } from "@shedkit/tool";
import { Miniflare } from "miniflare";
import { build } from "vite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { serveShed } from "../src/server.js";
import { listenHttp } from "../src/server-node.js";
import { call, connect, textOf } from "./helpers.js";

let worker: Miniflare;
let url: URL;

beforeAll(async () => {
  const output = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@shedkit/source", "workerd", "worker", "browser"] },
    build: {
      write: false,
      minify: false,
      target: "es2022",
      rolldownOptions: { output: { codeSplitting: false } },
      lib: { entry: fileURLToPath(new URL("workerd/worker.ts", import.meta.url)), formats: ["es"], fileName: "worker" },
    },
  });
  const [result] = Array.isArray(output) ? output : [output];
  const chunk = result && "output" in result ? result.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Error("nothing was bundled");
  worker = new Miniflare({ modules: true, script: chunk.code, compatibilityDate: "2026-07-01" });
  url = await worker.ready;
}, 180_000);

afterAll(() => worker?.dispose(), 180_000);

const say = { type: "object", properties: { value: { type: "string" } } };
const echo = new FnTool("echo", "Says a text again.", say, async (args) => args.str("value"));

test("in workerd, where no code is made from strings: a server over HTTP is found and called", async () => {
  const far = await listenHttp(serveShed(new ToolShed().tool(echo)));
  onTestFinished(() => far.close());
  const response = await worker.dispatchFetch(`http://worker/?url=${encodeURIComponent(far.url)}`);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ found: "far__echo", said: "across", status: [{ state: "ready" }] });
});

test("in workerd: a shed is served", async () => {
  const { manager } = await connect({ edge: { url: new URL("/mcp", url).href } });
  expect(textOf(await call(manager, "edge__greet"))).toBe("hello from workerd");
});
