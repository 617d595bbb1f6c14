import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { demoModelPath } from "@shedkit/model-demo";
import { FakeHub } from "@shedkit/testing";
import { expect, it } from "vitest";
import { Program, temporaryFolder, tour } from "./program.js";

it("downloads a model once, and uses it from then on", async () => {
  await using folder = await temporaryFolder();
  await using hub = await FakeHub.start();
  hub.addModel("acme/demo-GGUF", { "demo-Q8_0.gguf": await readFile(demoModelPath) });
  const args = ["--root", tour, "--model", "acme/demo-GGUF:Q8_0", "--read-only", "What is the port in config.ini?"];
  const ask = (env: NodeJS.ProcessEnv) => new Program(args, { home: folder.path, env }).ended;

  const first = await ask({ HF_ENDPOINT: hub.url });
  expect(first.stderr).toMatch(/^Model: acme\/demo-GGUF:Q8_0 /);
  expect(first).toMatchObject({ code: 0, stdout: "The port is 8417.\n" });
  expect(hub.bytesSent).toBeGreaterThan(1_900_000);

  const before = hub.bytesSent;
  expect(await ask({ HF_ENDPOINT: hub.url, HF_HUB_OFFLINE: "1" })).toMatchObject({ code: 0, stdout: first.stdout });
  expect(hub.bytesSent).toBe(before);
});

it("reads a model file whatever its name is", async () => {
  await using folder = await temporaryFolder();
  await copyFile(demoModelPath, path.join(folder.path, "weights"));
  const args = ["--root", tour, "--model", "weights", "--read-only", "What is the port in config.ini?"];
  const { code, stdout } = await new Program(args, { home: folder.path }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "The port is 8417.\n" });
});

it("finds what is in the cache and says which model would answer", async () => {
  await using folder = await temporaryFolder();
  const snapshot = path.join(folder.path, "hf/hub/models--acme--demo-GGUF/snapshots/0123");
  await mkdir(snapshot, { recursive: true });
  await writeFile(path.join(snapshot, "demo-Q8_0.gguf"), Buffer.alloc(2000));
  const env = { ANSWERME_MODEL: "acme/demo-GGUF" };
  const { code, stdout } = await new Program(["doctor"], { home: folder.path, env }).ended;
  expect(stdout).toMatch(/llama\.cpp +works, on the/);
  expect(stdout).toContain("acme/demo-GGUF demo-Q8_0.gguf (2.0 kB)");
  expect(stdout).toMatch(/model +set by ANSWERME_MODEL\n +Model: acme\/demo-GGUF \(local\)/);
  expect(code).toBe(0);
});
