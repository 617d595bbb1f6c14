import { gzipSync } from "node:zlib";
import { build } from "vite";
import { describe, expect, it } from "vitest";

const LEFT_OUT = /^(ajv|ajv-formats|@sinclair\/typebox|@anthropic-ai\/sdk|openai)(\/|$)/;

/**
 * The bytes, minified and gzipped, that a program with these lines loads before anything is done with it, and all that
 * it may load later.
 */
async function sizeOf(...lines: string[]): Promise<{ loaded: number; all: number }> {
  const output = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@shedkit/source", "import", "default"] },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id.endsWith("virtual-entry") ? "\0entry" : undefined),
        load: (id) => (id === "\0entry" ? lines.join("\n") : undefined),
      },
    ],
    root: import.meta.dirname,
    build: {
      ...{ write: false, minify: true, target: "es2023", modulePreload: false },
      rolldownOptions: { input: "virtual-entry", external: LEFT_OUT, preserveEntrySignatures: "strict" },
    },
  });
  const [result] = Array.isArray(output) ? output : [output];
  const chunks = result && "output" in result ? result.output.filter((file) => file.type === "chunk") : [];
  const loaded = new Set(chunks.filter((chunk) => chunk.isEntry).map(({ fileName }) => fileName));
  // What is imported when it is first used is another chunk, and not counted.
  for (const name of loaded) {
    for (const needed of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) {
      if (!LEFT_OUT.test(needed)) loaded.add(needed);
    }
  }
  const size = (list: typeof chunks) => list.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
  return { loaded: size(chunks.filter(({ fileName }) => loaded.has(fileName))), all: size(chunks) };
}

describe("what a program loads", () => {
  it("is at most 25 KB for sessions, and 40 KB with a provider", async () => {
    const session = 'export { AgentSession } from "@shedkit/agent";';
    const alone = await sizeOf(session);
    const withProvider = await sizeOf(
      session,
      'export { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";',
    );
    const kb = ({ loaded, all }: typeof alone) =>
      `${(loaded / 1000).toFixed(1)} KB (${(all / 1000).toFixed(1)} with all)`;
    console.log(`bundled, minified, gzipped: AgentSession ${kb(alone)}, with a provider ${kb(withProvider)}`);
    expect(alone.loaded).toBeGreaterThan(5000);
    expect(alone.loaded).toBeLessThanOrEqual(25_000);
    expect(withProvider.loaded).toBeLessThanOrEqual(40_000);
  });
});
