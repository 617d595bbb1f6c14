import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { demoModelPath, demoModelSize } from "@shedkit/model-demo";
import { FakeHub } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { canMakeTerminals, Program, temporaryFolder, tour } from "./program.js";

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

describe("a download that takes a while", () => {
  const question = "What is the port in config.ini?";
  const args = ["--root", tour, "--model", "acme/demo-GGUF:Q8_0", "--read-only", question];
  const megabytes = ((demoModelSize + 24_000_000) / 1e6).toFixed(1);
  /** The demonstration model, with 24 MB behind it that nobody reads, over a slow line. */
  async function slowly(options: { args?: string[]; terminal?: boolean } = {}) {
    await using folder = await temporaryFolder();
    await using hub = await FakeHub.start();
    hub.addModel("acme/demo-GGUF", {
      "demo-Q8_0.gguf": Buffer.concat([await readFile(demoModelPath), Buffer.alloc(24_000_000)]),
    });
    hub.fault = () => ({ type: "slow", bytesPerSecond: 20_000_000 });
    const env = { HF_ENDPOINT: hub.url };
    const { terminal } = options;
    return await new Program([...(options.args ?? []), ...args], { home: folder.path, env, terminal }).ended;
  }

  it("is one line where nobody watches", async () => {
    const { stdout, stderr } = await slowly();
    expect(stdout).toBe("The port is 8417.\n");
    expect(stderr.match(/^Downloading the model .*$/gm)).toEqual([`Downloading the model (${megabytes} MB) ...`]);
    expect(stderr).not.toMatch(/Loading the model|\r/);
  });

  it.runIf(canMakeTerminals)("is a bar in a terminal", async () => {
    const { stdout } = await slowly({ terminal: true });
    expect(stdout).toMatch(new RegExp(`\\rDownloading the model \\[#*\\.*\\] +\\d+ % of ${megabytes} MB`));
    expect(stdout).toContain("The port is 8417.");
  });

  it("is told by events with --json, before anything is loaded", async () => {
    const { stdout } = await slowly({ args: ["--json"] });
    const told = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).progress)
      .filter((progress) => progress?.type === "loadingModel");
    const downloads = told.filter(({ what }) => what === "download");
    expect(downloads.length).toBeGreaterThan(2);
    expect(told.slice(0, downloads.length)).toEqual(downloads);
    const done = downloads.map(({ bytesDone }) => bytesDone);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    const size = demoModelSize + 24_000_000;
    expect(downloads.at(-1)).toMatchObject({ bytesDone: size, bytesTotal: size });
    expect(told.at(-1)).toMatchObject({ what: "load" });
  });
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
