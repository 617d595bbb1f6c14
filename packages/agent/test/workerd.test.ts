import { fileURLToPath } from "node:url";
import { ScriptedServer } from "@shedkit/testing";
import { Miniflare } from "miniflare";
import { build } from "vite";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Outcome, Work } from "./workerd/worker.js";

/** One file of everything, from the sources, as a Worker is deployed. */
async function bundle(): Promise<string> {
  const entry = fileURLToPath(new URL("workerd/worker.ts", import.meta.url));
  const output = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@shedkit/source", "workerd", "import"] },
    build: {
      write: false,
      minify: false,
      target: "es2022",
      rolldownOptions: { output: { codeSplitting: false } },
      lib: { entry, formats: ["es"], fileName: "worker" },
    },
  });
  const [result] = Array.isArray(output) ? output : [output];
  const chunk = result && "output" in result ? result.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Error("nothing was bundled");
  return chunk.code;
}

describe("a session in workerd, where no code is made from strings", () => {
  it("waits for leave over the end of its Worker, and goes on with the turn in the next", async () => {
    const content = `The port is 8080. ${"Remember it. ".repeat(10_000)}`;
    const model = await ScriptedServer.start([
      { answer: { call: "shed", arguments: { description: "read and write files" } } },
      { answer: { call: "read", arguments: { path: "port.txt" } } },
      { answer: { call: "write", arguments: { path: "notes.txt", content } } },
      { answer: "Noted." },
      { answer: "It was 8080." },
    ]);
    onTestFinished(() => model.close());
    const miniflare = new Miniflare({
      modules: true,
      script: await bundle(),
      compatibilityDate: "2026-07-01",
      bindings: { MODEL_URL: model.url },
      d1Databases: ["DB"],
      r2Buckets: ["BUCKET"],
    });
    onTestFinished(() => miniflare.dispose());
    const ask = async (work: Work): Promise<Outcome> => {
      const response = await miniflare.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(work) });
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      return JSON.parse(text) as Outcome;
    };
    const named = ({ events }: Outcome) =>
      events.flatMap((event) => {
        if (event.type === "text") return [event.delta];
        if (event.type === "failed") return [JSON.stringify(event)];
        return "name" in event ? [`${event.type} ${event.name}`] : [];
      });
    const files = { "port.txt": "8080\n" };
    const first = await ask({ session: "s", files, say: "Note the port" });
    expect(named(first)).toEqual([
      ...["toolCall shed", "toolResult shed", "toolCall read", "toolResult read"],
      ...["toolCall write", "approvalRequested write"],
    ]);
    expect(first.files).toEqual(files);
    const second = await ask({ session: "s", files, approve: true });
    expect(named(second).join("")).toBe("toolNotification fileChangedtoolResult writeNoted.");
    expect(second.events.at(-1)?.type).toBe("done");
    expect(second.files["notes.txt"]).toBe(content);
    const third = await ask({ session: "s", files: second.files, say: "What was it?" });
    expect(named(third).join("")).toBe("It was 8080.");
    const sent = model.requests.map(({ body }) => body as { tools: { name: string }[]; messages: object[] });
    expect(sent).toHaveLength(5);
    expect(JSON.stringify(sent[4]?.messages)).toContain("Note the port");
    expect(first.inBucket).toBeGreaterThan(0);
  });
});
