import { AgentSession } from "@shedkit/agent";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed } from "@shedkit/shed";
import { ScriptedProvider } from "@shedkit/testing";
import { partsAlone, type ToolConstructor } from "@shedkit/tool";
import { fileNotes } from "@shedkit/tools-memory";
import { Schedules } from "@shedkit/tools-task";
import { functionSpec, type JsonValue, newSessionId, type Tool, type ToolArguments, toolName } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { ToolPreset } from "../src/index.js";

const fs = () =>
  new MemoryFileSystem({
    "a.txt": "one\ntwo one\n",
    "long.txt": "x".repeat(200_000),
    "d/x": "1",
    "notes/a.md": "hi",
    "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: How to deploy.\n---\nCarefully.\n",
  });

const images = { host: "images.example", generate: async () => [] };
const videos = {
  host: "videos.example",
  start: async () => ({ id: "v", status: "queued" as const }),
  poll: async () => ({ id: "v", status: "running" as const }),
  cancel: async () => {},
  download: async () => ({ data: new Uint8Array(), mediaType: "video/mp4" }),
};

/** Every preset but those over anchors, which a session cannot have beside the others. */
function withoutAnchors(): ToolConstructor[] {
  const files = fs();
  return [
    ...ToolPreset.files(files),
    ...ToolPreset.fileChanges(files),
    ...ToolPreset.shell(),
    ...ToolPreset.searchFiles(files),
    ...ToolPreset.glob(files),
    ...common(files),
  ];
}

function withAnchors(): ToolConstructor[] {
  const files = fs();
  return [...ToolPreset.hashline(files), ...ToolPreset.shell(), ...common(files)];
}

function common(files: MemoryFileSystem): ToolConstructor[] {
  return [
    ...ToolPreset.searchContext(),
    ...ToolPreset.sessionMemory(),
    ...ToolPreset.notes(fileNotes(files, { folder: "notes" })),
    ...ToolPreset.agent(),
    ...ToolPreset.todo(),
    ...ToolPreset.askUser(),
    ...ToolPreset.planMode(),
    ...ToolPreset.background(),
    ...ToolPreset.schedule(new Schedules({ due: () => undefined })),
    ...ToolPreset.webFetch(),
    ...ToolPreset.webSearch({ search: async () => [] }),
    ...ToolPreset.skills([{ name: "project", fs: files, folder: "skills" }]),
    ...ToolPreset.lsp(files, { none: { command: "not-there", languages: { ".txt": "text" } } }),
    ...ToolPreset.media(files, { images, videos }),
  ];
}

type Names = ReadonlyMap<string, string>;

/** A session of a shed, by the names that tools and parameters have in it. */
async function opened(tools: readonly ToolConstructor[], renamed: ReadonlyMap<string, Names> = new Map()) {
  const config = [...renamed].map(([id, params]) => ({
    ...{ id, nameOverride: newName(id), paramsNameOverrides: Object.fromEntries(params) },
  }));
  const shed = new ToolShed().tools(tools);
  const session = await AgentSession.builder(new ScriptedProvider(() => "Done."))
    .withModel("m")
    .withToolshed(config.length === 0 ? shed : shed.configure({ tools: config }))
    .build();
  onTestFinished(() => session.end());
  const { toolManager: manager } = session;
  const told = manager.names().flatMap((name) => manager.getDef(name) ?? []);
  manager.activate(manager.names());
  let calls = 0;
  const said = async (id: string, args: ToolArguments) => {
    const params = renamed.get(id);
    const byName = Object.entries(args).map(([name, value]) => [params?.get(name) ?? name, value] as const);
    const request = {
      id: `c${++calls}`,
      name: params ? newName(id) : id,
      arguments: Object.fromEntries(byName),
    };
    return await manager.executeOne(request).then(
      ({ text }) => text,
      (error: Error) => error.message,
    );
  };
  return { told, said, names: manager.names() };
}

const newName = (id: string) => `zq${id.replaceAll("_", "")}x`;
const newParam = (name: string) => `pq${name.replaceAll("_", "")}y`;

/** The parameters that can have other names: which command it is, is always `command`. */
function paramsOf(tool: Tool): string[] {
  const all = Object.keys((functionSpec(tool).parameters as { properties?: object }).properties ?? {});
  return tool.type === "single" ? all : all.filter((name) => name !== "command");
}

/** All texts of a declaration, with where they stand: names of properties are none, what they are told as is. */
function textsOf(value: unknown, at = ""): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item, i) => textsOf(item, `${at}/${i}`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]): [string, string][] =>
    key === "description" && typeof inner === "string" ? [[`${at}/${key}`, inner]] : textsOf(inner, `${at}/${key}`),
  );
}

/** What a text has of the given names, as words of their own. Names that are words of the language are told apart by `told`. */
function named(text: string, names: Iterable<string>): string[] {
  return [...names].filter((name) => new RegExp(`(?<![A-Za-z0-9_])${name}(?![A-Za-z0-9_])`).test(text));
}

/** A name of several words is never a word of a sentence; one that is may stand as such, but not where tools are told of. */
function leaksIn(text: string, own: { tools: readonly string[]; params: readonly string[] }): string[] {
  const several = [...own.tools, ...own.params].filter((name) => name.includes("_"));
  const asTool = own.tools.filter((name) =>
    new RegExp(`\\b(?:use|with|by|call|for|tool) ${name}(?![A-Za-z_ -])`).test(text),
  );
  return [...new Set([...named(text, several), ...asTool])];
}

const MARKERS = /\$\{|\{\{|\}\}|<%|%>|\bundefined\b|\[object |\bNaN\b/;

describe.each([
  ["all tools", withoutAnchors],
  ["all tools, over anchors", withAnchors],
] as const)("%s", (_, make) => {
  it("name only tools that are there, and leave no marker, in what a model is told", async () => {
    const { told, names } = await opened(make());
    expect(names.length).toBeGreaterThan(20);
    const elsewhere = [...withoutAnchors(), ...withAnchors()].map(({ name }) => name);
    const absent = [...new Set(elsewhere)].filter((name) => !names.includes(name));
    for (const tool of told) {
      const texts = textsOf(tool);
      expect(texts.length).toBeGreaterThan(0);
      for (const [at, text] of texts) {
        const where = `${toolName(tool)}${at}: ${text}`;
        expect(MARKERS.test(text), where).toBe(false);
        expect(leaksIn(text, { tools: absent, params: [] }), where).toEqual([]);
      }
    }
  });

  it("alone name no other tool", async () => {
    const own = { tools: make().map(({ name }) => name), params: [] };
    const needOthers: string[] = [];
    for (const tool of make()) {
      const { told } = await opened([tool]).catch(() => ({ told: undefined }));
      if (told === undefined) needOthers.push(tool.name);
      const others = own.tools.filter((name) => name !== tool.name);
      for (const [at, text] of told?.flatMap((tool) => textsOf(tool)) ?? [])
        expect(leaksIn(text, { tools: others, params: [] }), `${tool.name}${at}: ${text}`).toEqual([]);
    }
    expect(needOthers).toEqual(["bash", "enter_plan", "exit_plan"]);
  });

  it("renamed are told of by their new names alone, in declarations and in answers", async () => {
    const plain = await opened(make());
    const renamed = new Map(
      plain.told.map((tool) => [toolName(tool), new Map(paramsOf(tool).map((name) => [name, newParam(name)]))]),
    );
    const own = {
      tools: [...renamed.keys()],
      params: [...new Set([...renamed.values()].flatMap((params) => [...params.keys()]))],
    };
    const { told, said, names } = await opened(make(), renamed);
    expect(names.toSorted()).toEqual(own.tools.map(newName).toSorted());
    for (const tool of told) {
      expect(paramsOf(tool).every((name) => name.startsWith("pq"))).toBe(true);
      for (const [at, text] of textsOf(tool)) {
        const where = `${toolName(tool)}${at}: ${text}`;
        expect(MARKERS.test(text), where).toBe(false);
        expect(leaksIn(text, own), where).toEqual([]);
      }
    }
    for (const [id, args] of CALLS.filter(([id]) => renamed.has(id))) {
      const text = await said(id, args);
      const where = `${id} ${JSON.stringify(args)}: ${text.slice(0, 500)}`;
      expect(leaksIn(text, own), where).toEqual([]);
      expect(MARKERS.test(text), where).toBe(false);
    }
  });
});

it("the search of files names that of the conversation, by the name that it has", async () => {
  const files = fs();
  const both = [
    ...ToolPreset.notes(fileNotes(files, { folder: "notes" })),
    ...ToolPreset.searchFiles(files),
    ...ToolPreset.searchContext(),
  ];
  const none: Names = new Map();
  const { told } = await opened(both, new Map(both.map(({ name }) => [name, none])));
  const textOf = (name: string) => textsOf(told.find((tool) => toolName(tool) === name))[0]?.[1];
  expect(textOf("zqsearchfilex")).toMatch(/For what was said earlier in this conversation use zqsearchcontextx\.$/);
  const [alone] = (await opened([...ToolPreset.searchFiles(files)])).told;
  expect(textsOf(alone)[0]?.[1]).toMatch(/What ignore files name is left out\.$/);
});

/** Those of a small program. */
function few(): ToolConstructor[] {
  const files = fs();
  return [
    ...ToolPreset.files(files),
    ...ToolPreset.searchFiles(files),
    ...ToolPreset.shell(),
    ...ToolPreset.sessionMemory(),
    ...ToolPreset.searchContext(),
  ];
}

describe.each([
  ["all", withoutAnchors],
  ["few", few],
])("of %s tools", (_, make) => {
  it.each([
    ["search in files", "search_file"],
    ["read a file", "read"],
    ["run a command", "bash"],
    ["list files", "list"],
    ["write a file", "write"],
    ["edit a file", "edit"],
    ["remember a fact", "memory"],
    ["search this conversation", "search_context"],
  ])("who asks for %j finds %s first", async (description, name) => {
    const tools = make().filter((tool) => tool.name !== "agent");
    const manager = await new ToolShed().tools(tools).build(partsAlone(newSessionId()));
    onTestFinished(() => manager.close());
    expect((await manager.searchTools(description, 3))[0]?.name).toBe(name);
  });
});

const HINTS: readonly [string, { [name: string]: JsonValue }, string[]][] = [
  ["edit", { path: "a.txt", old_string: "one", new_string: "x" }, ["pqreplaceally"]],
  ["search_file", { query: "(" }, ["pqqueryy"]],
  ["bash", { command: " ", description: "x" }, ["pqcommandy"]],
  ["agent", { command: "start", task: " " }, ["pqtasky"]],
  ["read", { path: "long.txt" }, ["zqsearchfilex"]],
  ["memory", { command: "add" }, ["pqfacty"]],
  ["memory_search", { query: " " }, ["pqqueryy"]],
  ["memory_get", { path: "none" }, ["zqmemorysearchx"]],
  ["memory_get", { path: "a.md", from: 9 }, ["pqfromy"]],
  ["todo", { todos: [{ id: "1" }, { id: "1" }] }, ["pqtodosy"]],
  ["enter_plan", {}, ["zqexitplanx"]],
  ["monitor", {}, ["pqtaskidy", "pqcommandy"]],
  ["monitor", { task_id: "x", timeout_ms: 99_000_000 }, ["pqtimeoutmsy"]],
  ["monitor", { command: "true" }, ["zqmonitorx", "pqtaskidy", "zqtaskkillx"]],
  ["schedule", { command: "create", prompt: " ", every: "1h" }, ["pqprompty"]],
  ["schedule", { command: "create", prompt: "x" }, ["pqcrony", "pqeveryy", "pqaty"]],
  ["web_search", { query: " " }, ["pqqueryy"]],
  ["web_search", { query: "a", allowed_domains: ["?"] }, ["pqalloweddomainsy"]],
  ["web_fetch", {}, ["zqwebfetchx", "pqurly"]],
  ["skill", { name: "x" }, ["pqqueryy"]],
  ["skill", { query: "deploy" }, ["pqnamey"]],
  ["lsp", { operation: "hover", path: "a.txt" }, ["pqsymboly"]],
  ["image_gen", { prompt: " " }, ["pqprompty"]],
  ["image_gen", { prompt: "a", count: 9 }, ["pqcounty"]],
  ["image_gen", { prompt: "a", size: "??" }, ["pqsizey"]],
  ["image_gen", { prompt: "a", path: "a.txt" }, ["pqpathy", "pqoverwritey"]],
  ["video", { command: "start", prompt: "x", seconds: 999 }, ["pqsecondsy"]],
];

it("errors and hints say the new names of what is to be called or given", async () => {
  const plain = await opened(withoutAnchors());
  const renamed = new Map(
    plain.told.map((tool) => [toolName(tool), new Map(paramsOf(tool).map((name) => [name, newParam(name)]))]),
  );
  const { said } = await opened(withoutAnchors(), renamed);
  const missing: string[] = [];
  for (const [id, args, names] of HINTS) {
    const text = await said(id, args);
    for (const name of names)
      if (!text.includes(name)) missing.push(`${id} ${JSON.stringify(args)}: no ${name} in ${text}`);
  }
  expect(missing).toEqual([]);
});

const CALLS: readonly [string, { [name: string]: JsonValue }][] = [
  ["read", { path: "none" }],
  ["read", { path: "d" }],
  ["read", { path: "long.txt" }],
  ["read", { path: "a.txt", offset: 99 }],
  ["read", { path: "a.txt", limit: 1 }],
  ["read", {}],
  ["edit", { path: "a.txt", old_string: "one", new_string: "x" }],
  ["edit", { path: "a.txt", old_string: "zzz", new_string: "x" }],
  ["edit", { path: "a.txt", old_string: "", new_string: "x" }],
  ["edit", { path: "a.txt" }],
  ["multi_edit", { edits: [] }],
  ["apply_patch", { patch: "" }],
  ["apply_patch", { patch: "*** Begin Patch\n*** Update File: a.txt\n@@\n-zz\n+y\n*** End Patch" }],
  ["delete", { path: "d" }],
  ["move", { from: "a.txt", to: "long.txt" }],
  ["move", { from: "a.txt", to: "d" }],
  ["list", { path: "a.txt" }],
  ["list", { path: "none" }],
  ["hashline_read", { path: "none" }],
  ["hashline_read", { path: "long.txt" }],
  ["hashline_grep", { query: "(" }],
  ["hashline_edit", { path: "a.txt", edits: [] }],
  ["bash", { command: " ", description: "x" }],
  ["bash", { command: "true & true", description: "x" }],
  ["task_output", { task_ids: [] }],
  ["task_output", { task_ids: ["q"] }],
  ["task_kill", { task_id: "q" }],
  ["search_file", { query: "(" }],
  ["search_file", { query: "a", paths: ["none"] }],
  ["search_file", { query: "o", limit: 1 }],
  ["glob", { pattern: "*", path: "a.txt" }],
  ["glob", { pattern: " " }],
  ["search_context", { query: " " }],
  ["search_context", { query: "a", mode: "graph" }],
  ["memory_search", { query: " " }],
  ["memory_get", { path: "none" }],
  ["memory_get", { path: "a.md", from: 9 }],
  ["memory", { command: "remove", old_fact: "q" }],
  ["memory", { command: "add" }],
  ["agent", { command: "result", id: "q" }],
  ["agent", { command: "start", task: " " }],
  ["todo", { todos: [{ id: "1" }, { id: "1" }] }],
  ["ask_user", { questions: [{ question: "a" }, { question: "a" }] }],
  ["wait", { task_ids: ["q"] }],
  ["monitor", { task_id: "q" }],
  ["schedule", { command: "create", prompt: "x" }],
  ["schedule", { command: "delete", id: "q" }],
  ["web_fetch", { url: "x" }],
  ["web_search", { query: "a", allowed_domains: ["?"] }],
  ["skill", { name: "x" }],
  ["skill", { query: "x" }],
  ["lsp", { operation: "hover", path: "a.txt" }],
  ["image_gen", { prompt: "a", count: 9 }],
  ["image_gen", { prompt: "a", size: "??" }],
  ["image_gen", { prompt: "a", path: "a.txt" }],
  ["video", { command: "check", id: "video-1" }],
  ["video", { command: "download", id: "video-1" }],
  ["video", { command: "start", prompt: "x", seconds: 999 }],
];
