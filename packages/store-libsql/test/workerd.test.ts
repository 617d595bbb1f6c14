import { fileURLToPath } from "node:url";
import { documentStoreCases } from "@shedkit/store/conformance";
import { Miniflare } from "miniflare";
import { build } from "vite";
import { afterAll, describe, expect, it } from "vitest";
import { hranaServer } from "./support/hrana-server.js";

const miniflare = new Miniflare({
  modules: true,
  script: await bundle(fileURLToPath(new URL("support/worker.ts", import.meta.url))),
  compatibilityDate: "2026-07-01",
});
afterAll(() => miniflare.dispose());

describe("SqlDocumentStore on libsql over HTTP, in workerd", () => {
  for (const [i, { name }] of documentStoreCases.entries()) {
    it(name, async () => {
      const { url } = await hranaServer();
      const response = await miniflare.dispatchFetch(`http://worker/${i}?${encodeURIComponent(url)}`);
      expect(await response.text()).toBe("ok");
    });
  }
});

/** One file of everything, from the sources, as a Worker is deployed: it imports nothing of Node. */
async function bundle(entry: string): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@shedkit/source", "workerd", "import"] },
    build: {
      ...{ write: false, minify: false, target: "es2022", rollupOptions: { output: { codeSplitting: false } } },
      lib: { entry, formats: ["es"], fileName: "worker" },
    },
  });
  const [result] = Array.isArray(output) ? output : [output];
  const chunk = result && "output" in result ? result.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Error("nothing was bundled");
  return chunk.code;
}
