import { mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import type { AgentToolOptions } from "@shedkit/tools-agent";
import type { FileChangeToolsOptions, FilesToolsOptions } from "@shedkit/tools-files";
import type { HashlineEditParams, HashlineGrepParams, HashlineReadParams } from "@shedkit/tools-hashline";
import type { LanguageServer, LanguageServersOptions, LspParams } from "@shedkit/tools-lsp";
import type { ImageGenParams, VideoParams } from "@shedkit/tools-media";
import type { MemorySearchParams, MemoryToolOptions } from "@shedkit/tools-memory";
import type { GlobParams, SearchFileParams } from "@shedkit/tools-search";
import type { BashParams, TaskOutputParams } from "@shedkit/tools-shell";
import type { NodeTerminalOptions } from "@shedkit/tools-shell/node";
import type { SkillParams, SkillScope } from "@shedkit/tools-skills";
import type { MonitorParams, PlanModeOptions } from "@shedkit/tools-task";
import type { WebFetchParams, WebSearchParams } from "@shedkit/tools-web";
import { type JsonValue, newSessionId, type ToolArguments } from "@shedkit/types";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import type { Settings } from "../src/given.js";
import {
  type AgentPresetOptions,
  type BackgroundPresetOptions,
  type FileChangesPresetOptions,
  type FilesPresetOptions,
  type GlobPresetOptions,
  type HashlinePresetOptions,
  type LspPresetOptions,
  type LspServer,
  type MediaPresetOptions,
  type MemoryPresetOptions,
  type NotesPresetOptions,
  type PlanModePresetOptions,
  type SearchFilesPresetOptions,
  type ShellPresetOptions,
  type SkillFolder,
  type SkillsPresetOptions,
  ToolPreset,
  type WebFetchPresetOptions,
  type WebSearchPresetOptions,
} from "../src/index.js";

async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "shedkit-settings-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The tools of a preset, and what calls of them say. */
async function ready(preset: ToolPreset) {
  const manager = await preset.intoManager(newSessionId());
  onTestFinished(() => manager.close());
  let calls = 0;
  const request = (name: string, args: ToolArguments) => ({ id: String(++calls), name, arguments: args });
  return {
    said: async (name: string, args: ToolArguments) => (await manager.executeOne(request(name, args))).text,
    events: (name: string, args: ToolArguments) => collect(manager.stream(request(name, args))),
  };
}

const bash = (command: string) => ({ command, description: "" });

/** Options by tool, each of which may be left out, with each of its settings. */
type ByTool<T> = { [K in keyof T]?: Settings<NonNullable<T[K]>> | undefined };

describe("settings of presets", () => {
  it("are those that the packages have, so that the types fall out of step nowhere", () => {
    expectTypeOf<Omit<FilesPresetOptions, "documents">>().toEqualTypeOf<ByTool<Omit<FilesToolsOptions, "formats">>>();
    expectTypeOf<FileChangesPresetOptions>().toEqualTypeOf<ByTool<FileChangeToolsOptions>>();
    expectTypeOf<Omit<ShellPresetOptions, "bash" | "task_output">>().toEqualTypeOf<NodeTerminalOptions>();
    type ShellTools = ByTool<{ bash: BashParams; task_output: TaskOutputParams }>;
    expectTypeOf<Pick<ShellPresetOptions, "bash" | "task_output">>().toEqualTypeOf<ShellTools>();
    type Hashline = {
      read: Omit<HashlineReadParams, "hashLength">;
      grep: Omit<HashlineGrepParams, "hashLength">;
      edit: Omit<HashlineEditParams, "hashLength">;
    };
    expectTypeOf<Omit<HashlinePresetOptions, "hashLength">>().toEqualTypeOf<ByTool<Hashline>>();
    expectTypeOf<SearchFilesPresetOptions>().toEqualTypeOf<Settings<SearchFileParams>>();
    expectTypeOf<GlobPresetOptions>().toEqualTypeOf<Settings<GlobParams>>();
    expectTypeOf<MemoryPresetOptions>().toEqualTypeOf<MemoryToolOptions>();
    expectTypeOf<NotesPresetOptions>().toEqualTypeOf<Settings<MemorySearchParams>>();
    expectTypeOf<SkillsPresetOptions>().toEqualTypeOf<Settings<SkillParams>>();
    expectTypeOf<Pick<LspPresetOptions, keyof LspParams>>().toEqualTypeOf<Settings<LspParams>>();
    type Servers = Omit<LanguageServersOptions, "now">; // a clock for tests
    expectTypeOf<Omit<LspPresetOptions, keyof LspParams>>().toEqualTypeOf<Servers>();
    expectTypeOf<LspServer>().toEqualTypeOf<LanguageServer>();
    expectTypeOf<Omit<WebFetchPresetOptions, "allowLocal" | "documents" | "fs">>().toEqualTypeOf<
      Settings<WebFetchParams>
    >();
    expectTypeOf<WebSearchPresetOptions>().toEqualTypeOf<Settings<WebSearchParams>>();
    type Media = ByTool<{ image_gen: ImageGenParams; video: VideoParams }>;
    expectTypeOf<Pick<MediaPresetOptions, "image_gen" | "video">>().toEqualTypeOf<Media>();
    expectTypeOf<PlanModePresetOptions>().toEqualTypeOf<PlanModeOptions>();
    expectTypeOf<BackgroundPresetOptions>().toEqualTypeOf<Settings<MonitorParams>>();
    expectTypeOf<Omit<AgentPresetOptions, "childTools">>().toEqualTypeOf<Omit<AgentToolOptions, "tools">>();
    expectTypeOf<SkillFolder>().toEqualTypeOf<SkillScope>();
  });

  it("reach bash", async () => {
    const settings = { commandPrefix: "export SAID=before", backgroundOperator: false };
    const { said } = await ready(ToolPreset.shell({ bash: settings }));
    expect(await said("bash", bash("echo $SAID"))).toBe("exit: 0\nbefore");
    await expect(said("bash", bash("true &"))).rejects.toThrow("cannot put itself into the background");
    const waiting = { backgroundOnTimeout: true, backgroundAfterMs: 1 };
    const { said: late } = await ready(ToolPreset.shell({ bash: waiting }));
    expect(await late("bash", { ...bash("exec sleep 600"), timeout: 300_000 })).toContain("task-1");
  });

  it("reach the terminal", async () => {
    const logFolder = await tempFolder();
    const { said } = await ready(ToolPreset.shell({ shell: "/bin/sh", logFolder, cwd: logFolder }));
    expect(await said("bash", bash("echo $0; pwd"))).toBe(`exit: 0\nsh\n${logFolder}`);
    expect(await readdir(logFolder)).toEqual([expect.stringMatching(/^shedkit-terminal-/)]);
    const { said: short } = await ready(ToolPreset.shell({ maxLogBytes: 10 }));
    const ended = await short("bash", { ...bash("echo more than ten bytes; exec sleep 600"), timeout: 300_000 });
    expect(ended).toContain("more than ten bytes");
    expect(ended).not.toMatch(/^exit: 0/);
  });

  it("reach the tools of files", async () => {
    const rules = { "AGENTS.md": "Be brief." };
    const fs = new MemoryFileSystem({ ".gitignore": "built\n", built: "b", "a.txt": "one\n", ...rules });
    const ignoring = { delete: { gitignore: true }, move: { gitignore: true } };
    const changes = ToolPreset.fileChanges(fs, ignoring);
    const settings = { read: { stream: true, ruleFiles: ["AGENTS.md"] }, edit: { snippet: true } };
    const { said, events } = await ready(ToolPreset.files(fs, settings).merge(changes));
    expect(await said("delete", { path: "built" })).toContain(".gitignore");
    expect(await said("move", { from: "built", to: "other" })).toContain(".gitignore");
    expect((await fs.readdir(".")).map(({ name }) => name).sort()).toEqual([
      ".gitignore",
      "AGENTS.md",
      "a.txt",
      "built",
    ]);
    const read = await events("read", { path: "a.txt" });
    expect(read.map(({ type }) => type)).toContain("progress");
    expect(JSON.stringify(read)).toContain("Rules for this file");
    const edit = { path: "a.txt", old_string: "one", new_string: "two" };
    expect(await said("edit", edit)).toContain("1→two");
    const exact = await ready(ToolPreset.fileChanges(fs, { apply_patch: { matchIndentation: false } }));
    const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-  two\n+three\n*** End Patch\n";
    expect(await exact.said("apply_patch", { patch })).toContain("Nothing was changed");
    expect(await said("apply_patch", { patch })).not.toContain("Nothing was changed");
  });

  it("reach memory, notes and skills", async () => {
    let facts: readonly JsonValue[] = [];
    const edit = async (change: (facts: readonly JsonValue[]) => readonly JsonValue[]) => {
      facts = change(facts);
      return 1;
    };
    const hit = { path: "tea.md", from: 1, to: 1, score: 1, text: "Tea.", changedAt: Date.now() - 3 * 86_400_000 };
    const notes = { search: async () => [hit], get: async () => "Tea." };
    const skill = (name: string) => `---\nname: ${name}\ndescription: How to deploy.\n---\nCarefully.\n`;
    const fs = new MemoryFileSystem({ "s/one/SKILL.md": skill("one"), "s/two/SKILL.md": skill("two") });
    const { said } = await ready(
      ToolPreset.memory({ facts: async () => facts, edit }, { maxFacts: 1, maxFactChars: 10 })
        .merge(ToolPreset.notes(notes, { staleDays: 2 }))
        .merge(ToolPreset.skills([{ name: "project", fs, folder: "s" }], { maxResults: 1 })),
    );
    expect(await said("memory", { command: "add", fact: "Likes green tea." })).toContain("10 are the most");
    await said("memory", { command: "add", fact: "Tea." });
    expect(await said("memory", { command: "add", fact: "Milk." })).toContain("full (1 facts)");
    expect(await said("memory_search", { query: "tea" })).toContain("3 days");
    expect((await said("skill", { query: "deploy" })).match(/How to deploy/g)).toHaveLength(1);
  });

  it("reach language servers", async () => {
    const root = await tempFolder();
    await writeFile(join(root, "a.x"), "word\n");
    const mute = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], languages: { ".x": "x" } };
    const options = { startTimeoutMs: 50, graceMs: 1 };
    const { said } = await ready(ToolPreset.lsp(new NodeFileSystem(root), { mute }, options));
    const answer = await said("lsp", { operation: "hover", path: "a.x", symbol: "word" });
    expect(answer).toContain('The language server "mute" did not start within 0.05 s.');
  });
});
