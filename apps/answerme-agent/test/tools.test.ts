import { writeFile } from "node:fs/promises";
import path from "node:path";
import { RouterMix } from "@shedkit/harness";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { policyOf } from "../src/approval.js";
import type { ModelChoice } from "../src/model-choice.js";
import { demoModel } from "../src/models/demo.js";
import { openSession } from "../src/session.js";
import type { Settings, Sourced } from "../src/settings.js";
import { temporaryFolder } from "./program.js";

interface Given extends Partial<ModelChoice> {
  answers?: readonly ScriptedAnswer[];
  readOnly?: boolean;
  tools?: Settings["tools"];
  toolSet?: Settings["toolSet"];
}

/** A session with a scripted model; calls that would be asked about are noted and denied. */
async function open({ answers = [], readOnly = false, tools = {}, toolSet = null, ...choice }: Given = {}) {
  const folder = await temporaryFolder();
  await writeFile(path.join(folder.path, "config.ini"), "port=8417\n");
  const provider = new ScriptedProvider(answers);
  const asked: string[] = [];
  const settings: Pick<Sourced<Settings>, "tools" | "toolSet"> = {
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
    root: folder.path,
    policy: policyOf(readOnly ? "readOnly" : "ask", ({ tool }) => {
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
    asked,
    names: session.toolManager.names(),
    async [Symbol.asyncDispose]() {
      await session.end();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("the tools of a session", () => {
  it("are all there are for a model that follows instructions", async () => {
    await using t = await open();
    expect(t.names.join(" ")).toBe(
      "read write edit list multi_edit apply_patch delete move bash task_output task_kill search_file memory " +
        "search_context todo web_fetch",
    );
  });

  it("are those that the demonstration model learnt", async () => {
    const { groups, without } = demoModel();
    await using t = await open({ groups, without });
    expect(t.names).toEqual(["read", "write", "edit"]);
  });

  it("are without the groups that the settings switch off", async () => {
    await using t = await open({ tools: { shell: false, web: false, changes: false, memory: false } });
    expect(t.names.join(" ")).toBe("read write edit list search_file todo");
  });

  it("change nothing where nothing may be changed", async () => {
    await using t = await open({ readOnly: true });
    expect(t.names.join(" ")).toBe("read list search_file search_context todo web_fetch");
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
      { call: "bash", arguments: { command: "ls", description: "list" } },
      { call: "web_fetch", arguments: { url: "https://example.com/" } },
    ];
    await using t = await open({ answers: [calls, "Done."] });
    t.session.toolManager.activate(calls.map(({ call }) => call));
    expect((await t.session.ask("Do it all")).text).toBe("Done.");
    expect(t.asked.sort()).toEqual(["bash", "delete", "web_fetch", "write"]);
    expect(await t.session.memory.facts()).toEqual(["The port is 8417."]);
  });
});
