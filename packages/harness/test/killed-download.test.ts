import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FakeHub, tinyGguf } from "@shedkit/testing";
import { build } from "tsup";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = mkdtempSync(join(tmpdir(), "killed-download-"));
const hub = await FakeHub.start();
afterAll(async () => {
  await hub.close();
  rmSync(root, { recursive: true, force: true });
});

const IN_FLIGHT = 2 * 64 * 1024; // connections and parts of the example
const program = join(root, "first-example.js");
const project = join(root, "project");
const cache = join(root, "cache");

/** The example as one program, made of the sources; what has native code is imported from where it is. */
beforeAll(async () => {
  await build({
    entry: [fileURLToPath(new URL("./support/first-example.ts", import.meta.url))],
    outDir: root,
    format: ["esm"],
    platform: "node",
    splitting: false,
    noExternal: [/.*/],
    esbuildOptions: (options) => {
      options.conditions = ["@shedkit/source"];
    },
    esbuildPlugins: [
      {
        name: "leave out",
        setup: ({ onResolve, resolve }) => {
          onResolve({ filter: /^node-llama-cpp$/ }, async ({ path, kind, resolveDir, pluginData }) => {
            if (pluginData === "found") return undefined;
            const found = await resolve(path, { kind, resolveDir, pluginData: "found" });
            return { path: pathToFileURL(found.path).href, external: true };
          });
        },
      },
    ],
    ...{ silent: true, dts: false, config: false, clean: false },
  });
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
}, 300_000);

/** Runs the example; kills it once so many bytes of the model are there. Returns what it said. */
async function runExample(killAt = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, [program, project], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HF_ENDPOINT: hub.url, HF_HUB_CACHE: cache, HF_TOKEN: "", HF_HUB_OFFLINE: "" },
  });
  const ended = once(child, "close");
  const events: { type: string; bytesDone?: number; text?: string }[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    events.push(JSON.parse(line));
    if ((events.at(-1)?.bytesDone ?? 0) >= killAt) child.kill("SIGKILL");
  }
  const [code] = await ended;
  return { events, code };
}

it("the first example, killed at random moments of its download, loses no more than the parts in flight", async () => {
  const steps = [
    `<tool_call>\n{"name": "shed", "arguments": {"description": "read a file"}}\n</tool_call>`,
    `<tool_call>\n{"name": "read", "arguments": {"path": "package.json"}}\n</tool_call>`,
    "It is 4.5.6.",
  ];
  const model = tinyGguf({ steps, contextLength: 16_384, layers: 8 });
  hub.addModel("unsloth/gemma-4-E2B-it-GGUF", { "gemma-4-E2B-it-Q4_K_M.gguf": model });
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "name": "demo", "version": "4.5.6" }\n');

  const moments = [Math.random(), Math.random()].sort((a, b) => a - b);
  for (const moment of moments) await runExample(moment * model.length);
  const { events, code } = await runExample();
  expect([code, events.at(-1)]).toEqual([0, { type: "answer", text: "It is 4.5.6." }]);
  const asked = hub.requests.reduce(
    // Without the byte that asks for the size.
    (sum, { kind, range }) => sum + (kind === "cdn" && range && range[1] > 0 ? range[1] - range[0] + 1 : 0),
    0,
  );
  expect([moments, asked - model.length <= moments.length * IN_FLIGHT]).toEqual([moments, true]);
  expect(asked).toBeGreaterThanOrEqual(model.length);
}, 300_000);
