import { readFile } from "node:fs/promises";
import path from "node:path";
import { ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import { expect, it } from "vitest";
import { chooseModel } from "../src/model-choice.js";
import { tourQuestions } from "../src/tour.js";
import { run, temporaryFolder, tour } from "./program.js";

/** Asks the program about the tour with a model server that answers like this. */
async function ask(script: readonly ServerAnswer[], args: readonly string[], root = tour, stdinFile?: string) {
  const server = await ScriptedServer.start(script);
  try {
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "sk-test" };
    const ended = await run(["--root", root, "--model", "openai:scripted", ...args], { env, stdinFile });
    return { ...ended, requests: server.requests };
  } finally {
    await server.close();
  }
}

const lookUp = { call: "shed", arguments: { description: "read a file" } };
const read = { call: "read", arguments: { path: "config.ini" } };

it("asks a model server as it asks a local model", async () => {
  const script = [{ answer: [lookUp] }, { answer: [read] }, { answer: "The port is **8417**." }];
  const { code, stdout, stderr, requests } = await ask(script, ["What is the port?"]);
  expect(stdout).toBe("The port is **8417**.\n");
  expect(stderr).toMatch(
    /^Model: scripted \(http:\/\/127\.0\.0\.1:\d+\/v1\)\n-> shed\(.*\n-> read\(path: "config\.ini"\)\n/,
  );
  expect(JSON.stringify(requests[0]?.body)).toContain("What is the port?");
  expect(JSON.stringify(requests[2]?.body)).toContain("port=8417");
  expect(code).toBe(0);
});

it("takes what is piped in along, in front of the question", async () => {
  const file = path.join(tour, "config.ini");
  const { code, stdout, requests } = await ask([{ answer: "8417." }], ["What is the port?"], tour, file);
  const piped = (await readFile(file, "utf8")).trim();
  expect(JSON.stringify(requests[0]?.body)).toContain(
    JSON.stringify(`From standard input:\n${piped}\n\nWhat is the port?`).slice(1, -1),
  );
  expect([stdout, code]).toEqual(["8417.\n", 0]);
});

it("asks by Anthropic's wire too, where that is the key there is", async () => {
  const server = await ScriptedServer.start([{ answer: [lookUp] }, { answer: [read] }, { answer: "8417." }]);
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-ant-test" };
  const { code, stdout, stderr } = await run(["--root", tour, "What is the port?"], { env });
  await server.close();
  expect(stdout).toBe("8417.\n");
  expect(stderr).toMatch(/^Model: claude-sonnet-4-6 \(http/);
  expect(server.requests.map((request) => request.path)).toEqual(Array(3).fill("/v1/messages"));
  expect(code).toBe(0);
});

it("asks the provider that is named, before the one whose key comes first", async () => {
  const server = await ScriptedServer.start([{ answer: "Hello." }, { answer: "Hello." }]);
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "sk-test", ANTHROPIC_API_KEY: "sk-ant-test" };
  const responses = await run(["--root", tour, "--provider", "openai-responses", "Hi"], { env });
  const chat = await run(["--root", tour, "--provider", "openai", "--model", "m", "Hi"], { env });
  await server.close();
  expect([responses.stdout, chat.stdout]).toEqual(["Hello.\n", "Hello.\n"]);
  expect(server.requests.map(({ wire, body }) => [wire, body.model])).toEqual([
    ["openai-responses", "gpt-4o"],
    ["openai-chat", "m"],
  ]);
});

it("stays on this machine where that is asked for, whatever keys there are", async () => {
  const server = await ScriptedServer.start([]);
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-ant-test", OPENAI_API_KEY: "sk-test" };
  const { stdout, stderr, code } = await run(["--root", tour, "--provider", "local", tourQuestions[0]], { env });
  await server.close();
  expect([stdout, code]).toEqual([expect.stringContaining("8417"), 0]);
  expect(stderr).toMatch(/^Model: shed-demo/);
  expect(server.requests).toEqual([]);
  const named = chooseModel("local:acme/model-GGUF:Q8_0", null, env);
  expect(named.notice).toEqual({ model: "acme/model-GGUF:Q8_0", text: "Model: acme/model-GGUF:Q8_0 (local)" });
});

it("says in one line that a key is refused, without the key", async () => {
  const { code, stdout, stderr } = await ask(
    [{ status: 401, error: { code: "invalid_api_key", message: "Incorrect API key provided: sk-test." } }],
    ["Hello"],
  );
  expect(stdout).toBe("");
  expect(stderr.split("\n").filter((line) => line.startsWith("answerme-agent: "))).toHaveLength(1);
  expect(stderr).not.toMatch(/sk-test|^\s+at /m);
  expect(code).toBe(3);
});

it("says what to set where there is no key", async () => {
  const { code, stderr } = await run(["--root", tour, "--model", "openai:gpt-5-mini", "Hello"]);
  expect(stderr).toMatch(/answerme-agent: .*OPENAI_API_KEY/);
  expect(code).toBe(3);
});

it("ends with 1 where the answer breaks off, with what there was", async () => {
  const { code, stdout } = await ask([{ answer: "The port is 8417, as far as I see", cutAfter: 300 }], ["The port?"]);
  expect("The port is 8417, as far as I see".startsWith(stdout.trim())).toBe(true);
  expect(code).toBe(1);
});

it("leaves files alone where nobody can be asked, and changes them with --yes", async () => {
  await using folder = await temporaryFolder();
  const write = { call: "write", arguments: { path: "a.txt", content: "one" } };
  const script = [{ answer: [lookUp] }, { answer: [write] }, { answer: [write] }, { answer: "Done." }];
  expect((await ask(script, ["Write one"], folder.path)).code).toBe(4);
  expect((await ask(script, ["--yes", "Write one"], folder.path)).code).toBe(0);
});
