import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { demoModelPath } from "@shedkit/model-demo";
import { FakeHub } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { type Ended, run, type StartOptions, temporaryFolder, tour } from "./program.js";

/** The one line that says what was wrong, and that there is nothing else. */
function complaint({ stdout, stderr }: Ended): string {
  expect(stdout).toBe("");
  expect(stderr).not.toMatch(/^\s+at /m);
  const lines = stderr.trimEnd().split("\n");
  const complaints = lines.filter((line) => line.startsWith("answerme-agent: "));
  expect(complaints, stderr).toHaveLength(1);
  return complaints[0] ?? "";
}

async function refuses(args: readonly string[], code: number, pattern: RegExp, options?: StartOptions) {
  const ended = await run(args, options);
  expect(complaint(ended)).toMatch(pattern);
  expect(ended.code).toBe(code);
  return ended;
}

it("says which Node it needs where this one is too old", async () => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } })';
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(older)}` };
  await refuses(["hi"], 2, /this is Node 20\.19\.0; Node 22\.12 or newer is needed/, { env });
});

/** A hub on loopback that answers as `listener` does. */
async function hub(listener: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

describe("the command line", () => {
  it.each<[string[], RegExp]>([
    [["--mdoel", "x", "why?"], /unknown option --mdoel; did you mean --model\?/],
    [[""], /question is empty/],
    [["   "], /question is empty/],
    [["--model"], /--model needs a value/],
    [["--root", "/no/such/folder", "why?"], /--root \/no\/such\/folder: there is no such folder/],
    [["--root", path.join(tour, "config.ini"), "why?"], /config\.ini: this is a file; name a folder/],
  ])("%j", async (args, pattern) => {
    await refuses(args, 2, pattern);
  });

  it.each([undefined, "", " \n"])("no question, with %j piped in", async (stdin) => {
    await refuses([], 2, /no question was given; ask one, for example: answerme-agent "What/, { stdin });
  });

  it("no question, in a clone of the repository: names the tour", async () => {
    await refuses([], 2, /--root examples\/tour "What is the port in config\.ini\?"/, {
      cwd: path.join(tour, "../.."),
    });
  });

  it("is answered with an event too where it asks for them", async () => {
    const { code, stdout } = await run(["--json", "--mdoel", "x", "why?"]);
    expect(JSON.parse(stdout)).toMatchObject({ type: "failed", error: { code: "usage" }, usage: { total: 0 } });
    expect(stdout).toContain("did you mean --model?");
    expect(code).toBe(2);
    const noQuestion = await run(["--json"]);
    expect(JSON.parse(noQuestion.stdout)).toMatchObject({ type: "failed", error: { code: "usage" } });
    expect((await run(["why?", "--mdoel", "--", "--json"])).stdout).toBe("");
  });

  it("prints its help and its version", async () => {
    const help = await run(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("--model");
    const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
    expect(await run(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  });
});

describe("settings", () => {
  it("are printed with where they come from", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, "answerme.json"), '{\n  "maxSteps": 3\n}');
    const { code, stdout } = await run(["config", "--root", folder.path, "--read-only"], {
      env: { ANSWERME_MODEL: "owner/repo" },
    });
    expect(stdout).toBe(
      `model = "owner/repo"   (ANSWERME_MODEL)\npermission = "readOnly"   (--read-only)\n` +
        `permissions = {}   (default)\nmaxSteps = 3   (${folder.path}/answerme.json:2)\nkeepSessions = true   (default)\n` +
        "tools = {}   (default)\ntoolSet = null   (default)\nservices = {}   (default)\nmcpServers = {}   (default)\n",
    );
    expect(code).toBe(0);
  });

  it("that are wrong are named by file, line and field", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, "answerme.json"), '{\n  "modle": "owner/repo"\n}');
    await refuses(["--root", folder.path, "why?"], 2, /answerme\.json:2: there is no setting "modle"/);
  });
});

describe("a model that is not there", () => {
  const ask = (model: string) => ["--root", tour, "--model", model, "What is the port in config.ini?"];

  it("a missing file", () => refuses(ask("./no-such.gguf"), 3, /no-such\.gguf/).then(() => {}));

  it("a folder", async () => {
    await using folder = await temporaryFolder();
    const model = path.join(folder.path, "model.gguf");
    await mkdir(model);
    await refuses(ask(model), 3, /model\.gguf.*(folder|directory)/);
  });

  it("a truncated file", async () => {
    await using folder = await temporaryFolder();
    const model = path.join(folder.path, "half.gguf");
    const whole = await readFile(demoModelPath);
    await writeFile(model, whole.subarray(0, whole.length / 2));
    await refuses(ask(model), 3, /half\.gguf/);
  });

  it("a file of another kind", async () => {
    await using folder = await temporaryFolder();
    const model = path.join(folder.path, "photo.gguf");
    await writeFile(model, "\x89PNG\r\n\x1a\n and so on");
    await refuses(ask(model), 3, /photo\.gguf/);
  });

  it("a file of another kind, under another name", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, "photo"), "\x89PNG\r\n\x1a\n and so on");
    await refuses(ask("photo"), 3, /\/photo is not a GGUF file: it does not begin with "GGUF"/, { cwd: folder.path });
  });

  it("a folder that may be taken for a repository", async () => {
    const cwd = path.join(tour, "../..");
    await refuses(
      ask("examples/tour"),
      2,
      /examples\/tour is a folder; name the \.gguf file in it \(hf:examples\/tour/,
      {
        cwd,
      },
    );
  });

  it("a name that is none", async () => {
    await refuses(ask("what is this"), 2, /"what is this"/);
  });

  it("an unknown repository", async () => {
    await using server = await hub((_, response) => {
      response.writeHead(404, { "content-type": "application/json", "x-error-code": "RepoNotFound" });
      response.end('{"error":"Repository not found"}');
    });
    await refuses(ask("nobody/nothing"), 3, /nobody\/nothing/, { env: { HF_ENDPOINT: server.url } });
  });

  it("no network", async () => {
    const gone = await hub(() => {});
    await gone[Symbol.asyncDispose]();
    await refuses(ask("owner/repo"), 3, /could not be reached \(ECONNREFUSED\).*network/, {
      env: { HF_ENDPOINT: gone.url },
    });
  });

  it("a cache folder that is a file", async () => {
    await using folder = await temporaryFolder();
    const cache = path.join(folder.path, "cache");
    await copyFile(path.join(tour, "notes.txt"), cache);
    await using server = await hub((_, response) => response.writeHead(500).end());
    await refuses(ask("owner/repo"), 2, /cache/, { env: { HF_ENDPOINT: server.url, HF_HUB_CACHE: cache } });
  });

  it.runIf(process.platform === "linux")("a cache folder where none can be made", async () => {
    await using server = await FakeHub.start();
    server.addModel("owner/repo", { "demo-Q4_K_M.gguf": await readFile(demoModelPath) });
    const env = { HF_ENDPOINT: server.url, HF_HOME: "/proc/models" };
    await refuses(ask("owner/repo"), 2, /\/proc\/models\/hub does not work/, { env });
  });

  it("shows where it came from with --debug", async () => {
    const { stderr, code } = await run(["--debug", ...ask("./no-such.gguf")]);
    expect(stderr).toMatch(/^AgenticError: There is no file [^\n]+\n {4}at modelError/m);
    expect(stderr).toMatch(/^Error: ENOENT: no such file/m);
    expect(stderr).not.toContain("reviveError");
    expect(code).toBe(3);
  });

  it("is an event too with --json", async () => {
    const { stdout, code } = await run(["--json", ...ask("./no-such.gguf")]);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ type: "failed", error: { code: "provider" } });
    expect(code).toBe(3);
  });
});

describe("a question", () => {
  it("that is too long for the model is said to be, with its length", async () => {
    const question = `What is this? ${"word ".repeat(20_000)}`;
    const { stderr, code } = await run(["--root", tour], { stdin: question });
    expect(stderr).toMatch(/answerme-agent: The question is too long for the model: it has about 25004 tokens, and/);
    expect(code).toBe(1);
  });
});

describe("a file that is not there", () => {
  it("is the model's to hear of: the turn goes on", async () => {
    const { code, stderr } = await run(["--root", tour, "What is the port in missing.ini?"]);
    expect(stderr).toMatch(/search_file failed: .*missing\.ini/);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(0);
  });
});
