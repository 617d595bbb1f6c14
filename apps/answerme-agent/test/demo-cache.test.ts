import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import { NodeFileSystem } from "@shedkit/fs/node";
import { ToolPreset } from "@shedkit/harness";
import { demoModelPath } from "@shedkit/model-demo";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { ToolShed } from "@shedkit/shed";
import { expect, it } from "vitest";
import { chooseModel } from "../src/model-choice.js";
import { writeFiles } from "./demo-questions.js";

it("evaluates in each step only what the steps before did not, by llama.cpp's own count", async () => {
  const root = mkdtempSync(join(tmpdir(), "demo-cache-"));
  const provider = new LlamaCppProvider({ backend: "cpu" });
  try {
    writeFiles(root, { "config.ini": "[server]\nhost=lantern\nport=8417\ntimeout=30\n" });
    const choice = chooseModel(null, null, {});
    const files = [...ToolPreset.files(new NodeFileSystem(root), choice.files)];
    const session = await AgentSession.builder(provider)
      .withModel(demoModelPath)
      .withToolshed(new ToolShed().tools(files.filter(({ name }) => !choice.without?.includes(name))))
      .withConfig(choice.config)
      .build();
    const turns = [
      await session.runTurn("What is the port in config.ini?"),
      await session.runTurn("What is the host in config.ini?"),
    ];
    const steps = turns.flatMap((turn) =>
      [...turn].flatMap((record) => (record.type === "step" ? [record.usage] : [])),
    );
    expect(turns[0]?.text).toContain("8417");
    expect(steps.length).toBeGreaterThanOrEqual(4); // shed, read, the answer; and the next turn's
    let held = 0;
    for (const { input, cacheRead, output } of steps) {
      expect(cacheRead).toBe(held);
      expect(input).toBeGreaterThan(0);
      held = cacheRead + input + output - 1; // the token that ends an answer is not evaluated with it
    }
    await session.end();
  } finally {
    await provider.close();
    rmSync(root, { recursive: true, force: true });
  }
});
