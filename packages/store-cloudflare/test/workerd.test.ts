import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { build } from "vite";
import { afterAll, describe, expect, it } from "vitest";

const worker = await bundle(fileURLToPath(new URL("support/worker.ts", import.meta.url)));
const miniflare = new Miniflare({
  modules: true,
  script: worker,
  compatibilityDate: "2026-07-01",
  d1Databases: ["DB"],
  r2Buckets: ["BUCKET"],
});
afterAll(() => miniflare.dispose());
const kinds = (await (await miniflare.dispatchFetch("http://worker/")).json()) as { [kind: string]: string[] };

for (const [kind, names] of Object.entries(kinds)) {
  describe(`${kind} in workerd`, () => {
    for (const [i, name] of names.entries()) {
      it(name, async () => {
        const response = await miniflare.dispatchFetch(`http://worker/${encodeURIComponent(kind)}/${i}`);
        expect(await response.text()).toBe("ok");
      });
    }
  });
}

/** One file of everything, from the sources, as a Worker is deployed. */
async function bundle(entry: string): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@shedkit/source", "workerd", "import"] },
    build: { write: false, minify: false, target: "es2022", lib: { entry, formats: ["es"], fileName: "worker" } },
  });
  const [result] = Array.isArray(output) ? output : [output];
  const chunk = result && "output" in result ? result.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Error("nothing was bundled");
  return chunk.code;
}
