import { mkdir, stat, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { RouterMix } from "@shedkit/harness";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { policyOf } from "../src/approval.js";
import type { ModelChoice } from "../src/model-choice.js";
import { demoModel } from "../src/models/demo.js";
import { openSession } from "../src/session.js";
import type { Settings, Sourced } from "../src/settings.js";
import { temporaryFolder } from "./program.js";

interface Given extends Partial<ModelChoice> {
  answers?: readonly ScriptedAnswer[];
  readOnly?: boolean;
  unattended?: boolean;
  /** Files by name: of the project, and of the folder of a person's own. */
  own?: { readonly [name: string]: string };
  tools?: Settings["tools"];
  toolSet?: Settings["toolSet"];
  services?: Settings["services"];
  permission?: Settings["permission"];
  permissions?: Settings["permissions"];
}

/** A session with a scripted model; calls that would be asked about are noted and denied. */
async function open(given: Given = {}) {
  const { answers = [], readOnly = false, unattended, own = {}, tools = {}, toolSet = null, ...others } = given;
  const { services = {}, permission = "ask", permissions, ...choice } = others;
  const folder = await temporaryFolder();
  const root = path.join(folder.path, "project");
  for (const [name, text] of Object.entries({ "project/config.ini": "port=8417\n", ...own })) {
    const file = path.join(folder.path, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const provider = new ScriptedProvider(answers);
  const asked: string[] = [];
  const settings: Pick<Sourced<Settings>, "tools" | "toolSet" | "services"> = {
    services: { value: services, from: "answerme.json:5" },
    tools: { value: tools, from: "test" },
    toolSet: { value: toolSet, from: "answerme.json:3" },
  };
  const session = await openSession({
    choice: {
      notice: { model: "scripted", text: "" },
      config: {},
      files: {},
      ...choice,
      preset: async () => new RouterMix().primary(provider, "scripted").build(),
    },
    root,
    ownFolder: path.join(folder.path, "own"),
    unattended,
    policy: policyOf({ permission: readOnly ? "readOnly" : permission, permissions, root }, ({ tool }) => {
      asked.push(tool);
      return "nobody is there";
    }),
    readOnly,
    settings,
  }).catch(async (error: unknown) => {
    await folder[Symbol.asyncDispose]();
    throw error;
  });
  return {
    session,
    provider,
    asked,
    names: session.toolManager.names(),
    root,
    async [Symbol.asyncDispose]() {
      await session.end();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The address of a service on loopback. */
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("the tools of a session", () => {
  it("are all there are for a model that follows instructions", async () => {
    await using t = await open();
    expect(t.names.join(" ")).toBe(
      "read write edit list multi_edit apply_patch delete move bash task_output task_kill search_file memory " +
        "search_context todo web_fetch ask_user enter_plan exit_plan agent wait monitor",
    );
  });

  it("are those that the demonstration model learnt", async () => {
    const { groups } = demoModel();
    await using t = await open({ groups });
    expect(t.names.join(" ")).toBe("read write edit list search_file bash task_output task_kill memory search_context");
  });

  it("are without the groups that the settings switch off", async () => {
    const few = {
      shell: false,
      web: false,
      changes: false,
      memory: false,
      plan: false,
      agents: false,
      questions: false,
    };
    await using t = await open({ tools: few });
    expect(t.names.join(" ")).toBe("read write edit list search_file todo");
  });

  it("change nothing where nothing may be changed", async () => {
    await using t = await open({ readOnly: true });
    expect(t.names.join(" ")).toBe("read list search_file search_context todo web_fetch ask_user");
  });

  it("search the web and make images and videos where services for that are set", async () => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    const heard: string[] = [];
    const service = await listen(({ url = "", headers }, response) => {
      heard.push(`${url.split("?")[0]} ${headers.authorization ?? headers["x-key"]}`);
      const found = { results: [{ url: "https://a.example/", title: "Tea", content: "Leaves." }] };
      response.end(JSON.stringify(url.startsWith("/search") ? found : { data: [{ b64_json: png }] }));
    });
    vi.stubEnv("SERVICE_KEY", "k-123456");
    onTestFinished(() => void vi.unstubAllEnvs());
    const key = ["$", "{SERVICE_KEY}"].join("");
    await using t = await open({
      permission: "allow",
      services: {
        search: { baseUrl: service, headers: { "x-key": key } },
        images: { baseUrl: `${service}/v1`, apiKey: key },
        videos: { baseUrl: `${service}/v1` },
      },
      answers: [
        [
          { call: "web_search", arguments: { query: "tea" } },
          { call: "image_gen", arguments: { prompt: "A cup of tea" } },
        ],
        "Done.",
      ],
    });
    expect(t.names.join(" ")).toContain("web_fetch web_search image_gen video");
    t.session.toolManager.activate(["web_search", "image_gen"]);
    await t.session.ask("Go");
    const told = JSON.stringify(t.provider.requests[1]?.messages);
    expect(told).toContain("https://a.example/");
    expect(told).toContain("images/a-cup-of-tea.png");
    expect((await stat(path.join(t.root, "images/a-cup-of-tea.png"))).size).toBe(70);
    expect(heard.toSorted()).toEqual(["/search k-123456", "/v1/images/generations Bearer k-123456"]);
  });

  it("are let run, asked about and refused by the rules of the settings; what only reads runs by itself", async () => {
    const bash = (command: string) => ({ call: "bash", arguments: { command, description: "Works" } });
    const calls = [bash("cat config.ini"), bash("echo made > by-rule"), bash("printf ruled"), bash("rm config.ini")];
    const edit = { call: "write", arguments: { path: "answerme.json", content: "{}" } };
    const answers: ScriptedAnswer[] = [[...calls, edit], "Done."];
    const permissions = { allow: ["Bash(printf:*)"], deny: ["Bash(rm:*)"] };
    await using t = await open({ permissions, answers });
    t.session.toolManager.activate(["bash", "write"]);
    const turn = await t.session.runTurn("Go");
    const told = turn.toolResults().map(({ content }) => JSON.stringify(content));
    expect(told).toEqual([
      expect.stringContaining("port=8417"),
      expect.stringContaining("nobody is there"),
      expect.stringContaining("ruled"),
      expect.stringContaining("the rule Bash(rm:*) forbids"),
      expect.stringMatching(/answerme\.json: it is not changed without asking; nobody is there/),
    ]);
    expect(t.asked).toEqual(["bash", "write"]);
    expect((await stat(path.join(t.root, "config.ini"))).size).toBe(10);
    await using allowed = await open({ permission: "allow", permissions, answers });
    allowed.session.toolManager.activate(["bash", "write"]);
    await allowed.session.runTurn("Go");
    expect(allowed.asked).toEqual(["write"]);
  });

  it("that go out to services are asked about, and are gone with their group", async () => {
    const services = { search: { baseUrl: "http://127.0.0.1:1" }, images: { baseUrl: "http://127.0.0.1:1/v1" } };
    const answers: ScriptedAnswer[] = [
      [
        { call: "web_search", arguments: { query: "tea" } },
        { call: "image_gen", arguments: { prompt: "A cup" } },
      ],
      "Done.",
    ];
    await using t = await open({ services, answers });
    t.session.toolManager.activate(["web_search", "image_gen"]);
    await t.session.ask("Go");
    expect(t.asked).toEqual(["web_search", "image_gen"]);
    await using none = await open({ services, tools: { web: false, media: false } });
    expect(none.names).not.toContain("web_search");
    expect(none.names).not.toContain("image_gen");
    await using reads = await open({ services, readOnly: true });
    expect(reads.names).toContain("web_search");
    expect(reads.names).not.toContain("image_gen");
  });

  it("need the variables that their services name", async () => {
    const apiKey = ["$", "{NO_SUCH_KEY}"].join("");
    await expect(open({ services: { images: { baseUrl: "http://localhost", apiKey } } })).rejects.toThrow(
      "answerme.json:5: services.images.apiKey needs the environment variable NO_SUCH_KEY, which is not set",
    );
  });

  it("ask nothing where nobody is there", async () => {
    await using t = await open({ unattended: true });
    expect(t.names).not.toContain("ask_user");
    expect(t.names).not.toContain("exit_plan");
  });

  it("read the skills of the folder and a person's own, and a person's notes, where there are any", async () => {
    const skill = (name: string) => `---\nname: ${name}\ndescription: How to ${name}.\n---\nDo the ${name}.\n`;
    const calls = [
      { call: "skill", arguments: { name: "release" } },
      { call: "skill", arguments: { name: "greet" } },
      { call: "memory_search", arguments: { query: "coffee" } },
    ];
    await using t = await open({
      answers: [calls, "Done."],
      own: {
        "project/.answerme/skills/release/SKILL.md": skill("release"),
        "own/skills/greet/SKILL.md": skill("greet"),
        "own/notes/kitchen.md": "The coffee is in the left cupboard.\n",
      },
    });
    expect(t.names.join(" ")).toMatch(/ skill memory_search memory_get$/);
    t.session.toolManager.activate(calls.map(({ call }) => call));
    await t.session.ask("Do it all");
    const told = JSON.stringify(t.provider.requests[1]?.messages);
    for (const text of ["Do the release.", "Do the greet.", "left cupboard"]) expect(told).toContain(text);
  });

  it("are chosen and named by a tool set; one that there is not is told by file and line", async () => {
    const toolSet = { tools: [{ id: "read", nameOverride: "open_file" }, { id: "files:list" }] };
    await using t = await open({ toolSet });
    expect(t.names).toEqual(["open_file", "list"]);
    await expect(open({ toolSet: { tools: [{ id: "raed" }] } })).rejects.toThrow(/^answerme\.json:3: .*raed/s);
  });
});

describe("leave", () => {
  it("is not needed to read, to search, to plan and to remember; it is for changes, commands and the network", async () => {
    const calls = [
      { call: "read", arguments: { path: "config.ini" } },
      { call: "search_file", arguments: { pattern: "port", kind: "content" } },
      { call: "todo", arguments: { todos: [{ id: "1", content: "look", status: "pending" }] } },
      { call: "memory", arguments: { command: "add", fact: "The port is 8417." } },
      { call: "write", arguments: { path: "a.txt", content: "a" } },
      { call: "delete", arguments: { path: "config.ini" } },
      { call: "bash", arguments: { command: "touch b.txt", description: "make" } },
      { call: "web_fetch", arguments: { url: "https://example.com/" } },
    ];
    await using t = await open({ answers: [calls, "Done."] });
    t.session.toolManager.activate(calls.map(({ call }) => call));
    expect((await t.session.ask("Do it all")).text).toBe("Done.");
    expect(t.asked.sort()).toEqual(["bash", "delete", "web_fetch", "write"]);
    expect(await t.session.memory.facts()).toEqual(["The port is 8417."]);
  });
});
