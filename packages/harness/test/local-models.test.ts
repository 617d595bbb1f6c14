import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { NodeFileSystem } from "@shedkit/fs/node";
import { ToolShed } from "@shedkit/shed";
import { FakeHub, tinyGguf, tinyOnnx } from "@shedkit/testing";
import { Messages } from "@shedkit/types";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  Gemma4,
  type GgufFamily,
  Glm52,
  HuggingFaceGgufConfig,
  Qwen36,
  RouterPreset,
  ToolPreset,
} from "../src/index.js";

const root = mkdtempSync(join(tmpdir(), "local-models-"));
const hub = await FakeHub.start();
let folders = 0;

beforeEach(() => {
  vi.stubEnv("HF_ENDPOINT", hub.url);
  vi.stubEnv("HF_HUB_CACHE", join(root, `cache-${++folders}`));
});
afterAll(async () => {
  await hub.close();
  rmSync(root, { recursive: true, force: true });
});

const call = (name: string, args: object) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

describe("the first example", () => {
  it("runs as it is written, against another hub: looks tools up, reads the file, answers", async () => {
    const steps = [
      call("shed", { description: "read a file" }),
      call("read", { path: "package.json" }),
      "It is 4.5.6.",
    ];
    hub.addModel("unsloth/gemma-4-E2B-it-GGUF", {
      "gemma-4-E2B-it-Q4_K_M.gguf": tinyGguf({ steps, contextLength: 16_384 }),
      "gemma-4-E2B-it-Q8_0.gguf": tinyGguf({ seed: 2 }),
    });
    const project = join(root, "project");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{ "name": "demo", "version": "4.5.6" }\n');

    const agent = await RouterPreset.huggingfaceCpu("unsloth/gemma-4-E2B-it-GGUF")
      .intoAgentBuilder()
      .withToolshed(new ToolShed().tools(ToolPreset.files(new NodeFileSystem(project))))
      .build();
    const turn = await agent.runTurn("What is the version in package.json?");
    const records = turn.records.map((record) => JSON.stringify(record));
    expect(records.some((text) => text.includes("toolResult") && text.includes("4.5.6"))).toBe(true);
    expect(turn.text).toBe("It is 4.5.6.");
    expect((await agent.ask("And again?")).text).toBe("It is 4.5.6.");
    await agent.end();
    const files = hub.requests.filter(({ kind }) => kind === "resolve").map(({ url }) => url);
    expect(files.every((url) => url.includes("Q4_K_M"))).toBe(true);
  });
});

const request = (name: string) => ({
  model: { name },
  messages: [Messages.user("Hi")],
  tools: { tools: [], activations: [] },
  params: { maxTokens: 4 },
});

describe("families", () => {
  const kinds = { q3KM: "Q3_K_M", q4KM: "Q4_K_M", q5KM: "Q5_K_M", q8_0: "Q8_0" } as const;

  it.each<[GgufFamily, keyof typeof kinds]>([
    [Glm52, "q3KM"],
    [Qwen36, "q5KM"],
    [Gemma4, "q4KM"],
    [Gemma4, "q8_0"],
  ])(
    "take the quantization that they are asked for, whatever the configuration and the name say",
    async (family, method) => {
      const files = Object.values(kinds).map(
        (kind) => [`m-${kind}.gguf`, tinyGguf({ says: [`I am ${kind}`] })] as const,
      );
      hub.addModel(family.model, Object.fromEntries(files));
      const provider = await family[method](HuggingFaceGgufConfig.onCpu({ quantization: "Q2_K", threads: 1 }));
      let text = "";
      for await (const event of provider.stream(request(`${family.model}:Q6_K`))) {
        if (event.type === "textDelta") text += event.text;
        if (event.type === "failure") throw event.error;
      }
      expect(text).toBe(`I am ${kinds[method]}`);
      await provider.close?.();
    },
  );
});

describe("candleLlama", () => {
  it("answers with a folder of ONNX weights, and with a repository of the hub", async () => {
    const files = tinyOnnx({ says: ["Hello", " there"] });
    const folder = join(root, "onnx-model");
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    hub.addModel("acme/Llama-ONNX", files);
    for (const model of [folder, "acme/Llama-ONNX"]) {
      const agent = await RouterPreset.candleLlama(model).intoAgentBuilder().build();
      expect((await agent.ask("Hi")).text).toBe("Hello there");
      await agent.end();
    }
  });
});
