import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));

/**
 * Runs a program as a person would: the built packages, a process of its own, to its end. `input` is typed at its
 * question.
 */
async function run(
  server: ScriptedServer,
  program: string,
  { args = [], input = "", env = {} }: { args?: string[]; input?: string; env?: { [name: string]: string } } = {},
) {
  const child = spawn(process.execPath, ["--import", "./test/scripted.mjs", program, ...args], {
    cwd: folder,
    env: {
      ...process.env,
      ANTHROPIC_API_KEY: "key-a",
      OPENAI_API_KEY: "key-o",
      OPENROUTER_API_KEY: "key-r",
      SCRIPTED_SERVER: server.url,
      NODE_OPTIONS: "",
      ...env,
    },
  });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
    if (text.includes("[y/N]")) child.stdin.end(input);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, ...said };
}

async function ran(answers: readonly ServerAnswer[], program: string, options?: Parameters<typeof run>[2]) {
  await using server = await ScriptedServer.start(answers);
  const result = await run(server, program, options);
  return { ...result, requests: server.requests };
}

describe("the programs", () => {
  it("ask one question", async () => {
    const { code, out, err, requests } = await ran(["Hello, Ada."], "ask.ts", { args: ["I am Ada"] });
    expect({ code, out, err }).toEqual({ code: 0, out: "Hello, Ada.\n", err: "" });
    expect(JSON.stringify(requests[0]?.body.messages)).toContain("I am Ada");
  });

  it("end with what went wrong, and without the key", async () => {
    const refused = { status: 401, error: { code: "authentication_error", message: "invalid key-a" } };
    const { code, out, err } = await ran([refused], "ask.ts");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("anthropic refused the request (401 authentication_error)");
    expect(err).not.toContain("key-a");
  });

  it("use a tool that the model looks up", async () => {
    const { code, out, err, requests } = await ran(
      [
        [{ call: "shed", arguments: { description: "how many pieces of an article" } }],
        [{ call: "stock", arguments: { article: "lamp" } }],
        "We have 28 lamps.",
      ],
      "tools.ts",
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^-> shed .*\n-> stock {"article":"lamp"}\nWe have 28 lamps\.\n\d+ tokens\n$/);
    expect(JSON.stringify(requests[2]?.body.messages)).toContain("28");
  });

  it("work with the models of OpenRouter, by one key", async () => {
    const down = { status: 503, headers: { "retry-after-ms": "1" }, error: { code: "unavailable", message: "Down" } };
    await using server = await ScriptedServer.start((request, index) => {
      if (index === 0) return [{ call: "stock", arguments: { article: "lamp" } }];
      return request.body.model === "openai/gpt-4o" ? "We have 28 lamps." : down;
    });
    const { code, out, err } = await run(server, "openrouter.ts");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^We have 28 lamps\.\n\d+ tokens\n$/);
    const models = server.requests.map(({ body }) => body.model);
    expect([models[0], models.at(-1)]).toEqual(["anthropic/claude-sonnet-4.6", "openai/gpt-4o"]);
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer key-r"]));
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain("28");
  });

  it("go to another provider where one fails, and take the conversation along", async () => {
    const wires: string[] = [];
    await using server = await ScriptedServer.start((request) => {
      wires.push(request.wire ?? "");
      if (request.wire === "anthropic") {
        const headers = { "retry-after-ms": "1" };
        return { status: 529, headers, error: { code: "overloaded_error", message: "Overloaded" } };
      }
      return JSON.stringify(request.body.messages).includes("What is my name?") ? "Ada." : "Hello, Ada.";
    });
    const { code, out, err } = await run(server, "fallback.ts");
    expect({ code, out, err }).toEqual({ code: 0, out: "Hello, Ada.\nAda.\n", err: "" });
    expect(wires[0]).toBe("anthropic");
    expect(wires.slice(-2)).toEqual(["openai-chat", "openai-chat"]);
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain("Hello, Ada.");
  });

  it("go to a model on this machine where the cloud fails, in the middle of the work or at once", async () => {
    const tour = fileURLToPath(new URL("../../tour", import.meta.url));
    for (const before of [[], [[{ call: "shed", arguments: { description: "search in files", limit: 1 } }]]]) {
      const headers = { "retry-after-ms": "1" };
      const busy = { status: 529, headers, error: { code: "overloaded_error", message: "Overloaded" } };
      await using server = await ScriptedServer.start((_, index) => before[index] ?? busy);
      const { code, out, err } = await run(server, "local.ts", { args: [tour] });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toMatch(/^-> .*\.gguf\n.*\b8417\b/);
    }
  });

  it("get an answer as a value of a schema", async () => {
    const { code, out, err, requests } = await ran(
      ['{"customer":"Ada Lovelace","total":12.5,"due":null}'],
      "structured.ts",
    );
    expect({ code, out, err }).toEqual({ code: 0, out: "Ada Lovelace: 12.50 (due at once)\n", err: "" });
    expect(requests[0]?.body.text).toMatchObject({ format: { type: "json_schema", strict: true } });
  });

  it("go on with a conversation in another process", async () => {
    const sessions = await mkdtemp(path.join(tmpdir(), "programs-"));
    try {
      await using server = await ScriptedServer.start(["I will.", "Heron."]);
      const env = { SESSIONS: sessions };
      const first = await run(server, "resume.ts", { env });
      const [, id = ""] = /^(\S+) I will\.\n$/.exec(first.out) ?? [];
      expect({ ...first, out: id === "" }).toEqual({ code: 0, out: false, err: "" });
      const second = await run(server, "resume.ts", { args: [id], env });
      expect(second).toEqual({ code: 0, out: `${id} Heron.\n`, err: "" });
      expect(JSON.stringify(server.requests[1]?.body.messages)).toContain("Remember the word heron.");
    } finally {
      await rm(sessions, { recursive: true, force: true });
    }
  });

  it.each([
    ["y", "spring is gone."],
    ["n", "is not permitted"],
  ])("ask a person about a call: %s", async (input, result) => {
    const { code, out, err, requests } = await ran(
      [[{ call: "discard", arguments: { draft: "spring" } }], "Done."],
      "approval.ts",
      { input: `${input}\n` },
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain('May discard run with {"draft":"spring"}? [y/N]');
    expect(out).toContain("Done.");
    expect(JSON.stringify(requests[1]?.body.messages)).toMatch(new RegExp(result, "i"));
  });
});
