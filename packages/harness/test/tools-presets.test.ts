import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { OverlayFileSystem } from "@shedkit/fs/overlay";
import { ToolShed, ToolShedError } from "@shedkit/shed";
import { callTool, Resources, type SessionParts, type ToolConstructor } from "@shedkit/tool";
import { type JsonValue, newSessionId, type ToolArguments } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { registerFileTools, registerShellTool, ToolPreset } from "../src/index.js";

const names = (preset: Iterable<ToolConstructor>) => [...preset].map((tool) => tool.name);

async function realFs(): Promise<NodeFileSystem> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-preset-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return new NodeFileSystem(root);
}

/** A manager over the tools of a shed that is built for a session, its memory, and what calls say. */
async function session(preset: ToolPreset) {
  let facts: readonly JsonValue[] = [];
  const resources = new Resources();
  onTestFinished(() => resources.dispose());
  const manager = await new ToolShed().tools(preset).build({
    sessionId: newSessionId(),
    resources,
    context: { search: async (query) => [{ source: "message", score: 1, content: `about ${query}` }] },
    memory: {
      facts: async () => facts,
      edit: async (change) => {
        facts = change(facts);
        return 1;
      },
    },
  });
  manager.activate(names(preset));
  let calls = 0;
  return {
    facts: () => facts,
    close: () => manager.close(),
    said: async (name: string, args: ToolArguments) =>
      (await manager.executeOne({ id: String(++calls), name, arguments: args })).text,
  };
}

describe("presets of tools", () => {
  it("name their tools before anything is imported", async () => {
    const fs = new MemoryFileSystem();
    const disk = await realFs();
    const shell = ["bash", "task_output", "task_kill"];
    const files = ["read", "write", "edit", "list"];
    expect(names(ToolPreset.shell())).toEqual(shell);
    expect(names(ToolPreset.shell({ bash: { enabledBackground: false } }))).toEqual(["bash"]);
    expect(names(ToolPreset.shell({ bash: { backgroundInput: true } }))).toEqual([...shell, "task_input"]);
    expect(names(ToolPreset.fileChanges(fs))).toEqual(["multi_edit", "apply_patch", "delete", "move"]);
    expect(names(ToolPreset.hashline(fs))).toEqual(["hashline_read", "hashline_grep", "hashline_edit"]);
    expect(names(ToolPreset.searchFiles(fs))).toEqual(["search_file"]);
    expect(names(ToolPreset.glob(fs))).toEqual(["glob"]);
    expect(names(ToolPreset.searchContext())).toEqual(["search_context"]);
    expect(names(ToolPreset.sessionMemory())).toEqual(["memory"]);
    expect(names(ToolPreset.minimalSubAgent(disk))).toEqual([...files, ...shell]);
    expect(names(ToolPreset.standard(disk))).toEqual([...files, ...shell, "memory"]);
  });

  it("need a session where they are over what it has", async () => {
    const memory = { facts: async () => [], edit: async () => 1 };
    const fs = await realFs();
    for (const preset of [ToolPreset.memory(memory), ToolPreset.fileChanges(fs), ToolPreset.minimalSubAgent(fs)]) {
      expect((await preset.asChildTools()).map((tool) => tool.metadata?.id)).toEqual(names(preset));
    }
    for (const preset of [ToolPreset.searchContext(), ToolPreset.sessionMemory(), ToolPreset.standard(fs)]) {
      await expect(preset.asChildTools()).rejects.toBeInstanceOf(ToolShedError);
    }
  });

  it("offer no background where a configuration switches it off, and the times that it sets", async () => {
    const config = (params: { [name: string]: JsonValue }) => ({ tools: [{ id: "bash", params }] });
    const resources = new Resources();
    onTestFinished(() => resources.dispose());
    const shed = new ToolShed().tools(ToolPreset.shell());
    const configured = shed.configure(config({ enabledBackground: false, maxTimeoutMs: 2000 }));
    const manager = await configured.build({ sessionId: newSessionId(), resources } as SessionParts);
    onTestFinished(() => manager.close());
    manager.activate(["bash"]);
    const shown = JSON.stringify(manager.offeredTools());
    expect(shown).not.toMatch(/is_background|in the background/);
    expect(shown).toContain("at most 2000 ms");
    expect(shown).toContain("Default: 2000.");
    const asked = manager.executeOne({ id: "1", name: "bash", arguments: { command: "echo a", description: "" } });
    expect((await asked).text).toBe("exit: 0\na");
  });

  it("find files by patterns, in memory and in a real folder", async () => {
    for (const fs of [new MemoryFileSystem(), await realFs()]) {
      await fs.mkdir("src");
      await fs.writeFile("src/main.ts", "");
      await fs.writeFile("src/main.js", "");
      const [glob] = await ToolPreset.glob(fs).asChildTools();
      if (!glob) throw new Error("there is no tool");
      expect((await callTool(glob, { pattern: "**/*.ts" })).text).toBe("src/main.ts");
    }
  });

  it("work in a session: a file is written, run in its folder, searched and remembered", async () => {
    const fs = await realFs();
    const preset = ToolPreset.standard(fs).merge(ToolPreset.searchFiles(fs)).merge(ToolPreset.searchContext());
    const { said, facts } = await session(preset);
    await said("write", { path: "a.sh", content: "echo from a.sh\n" });
    expect(await said("bash", { command: "sh a.sh; pwd", description: "Runs it" })).toBe(
      `exit: 0\nfrom a.sh\n${fs.root}`,
    );
    const begun = await said("bash", { command: "echo later", description: "Runs on", is_background: true });
    expect(begun).toContain("task-1");
    expect(await said("task_output", { task_ids: ["task-1"], timeout_ms: 30_000 })).toContain("later");
    expect(await said("search_file", { query: "from" })).toContain("a.sh\n1:echo from a.sh");
    expect(await said("search_context", { query: "tea" })).toContain("about tea");
    await said("memory", { command: "add", fact: "Likes tea." });
    expect(facts()).toEqual(["Likes tea."]);
  });

  it("give no shell beside files that are not on the disk, unless a folder is named for it", async () => {
    const disk = await realFs();
    class Confined extends NodeFileSystem {}
    const others = [new OverlayFileSystem(disk), new MemoryFileSystem(), new Confined(disk.root)];
    for (const fs of others) {
      expect(() => ToolPreset.minimalSubAgent(fs)).toThrow(/^ToolPreset\.minimalSubAgent: .*\{ shell: \{ cwd \} \}/);
      expect(() => ToolPreset.standard(fs)).toThrow(TypeError);
      expect(() => ToolPreset.standard(fs, { shell: { sandbox: {}, cwd: undefined } })).toThrow("ToolPreset.files(fs)");
      const { said } = await session(ToolPreset.standard(fs, { shell: { cwd: disk.root } }));
      expect(await said("bash", { command: "pwd", description: "" })).toBe(`exit: 0\n${disk.root}`);
    }
  });

  it("pass on the settings of what they are made of", async () => {
    const settings = { files: { read: { lineNumbers: false } }, memory: { maxFactChars: 5 } };
    const fs = await realFs();
    await fs.mkdir("sub");
    await fs.writeFile("a", "1\n");
    const shell = { cwd: join(fs.root, "sub"), bash: { enabledBackground: false } };
    const preset = ToolPreset.standard(fs, { ...settings, shell });
    expect(names(preset)).toEqual(["read", "write", "edit", "list", "bash", "memory"]);
    const { said } = await session(preset);
    expect(await said("read", { path: "a" })).toMatch(/^1/);
    expect(await said("read", { path: "a" })).not.toContain("1→");
    expect(await said("bash", { command: "pwd", description: "" })).toBe(`exit: 0\n${fs.root}/sub`);
    expect(await said("memory", { command: "add", fact: "Likes tea." })).toContain("5 are the most");
  });

  it("leave no process behind when the session ends", async () => {
    const { said, close } = await session(ToolPreset.shell());
    await said("bash", { command: "sleep 98961 & echo $! > /dev/null", description: "Left behind" });
    const begun = await said("bash", {
      command: "echo up; exec sleep 98962",
      description: "Server",
      is_background: true,
    });
    expect(begun).toContain("task-1");
    const running = async () => {
      const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
      const lines = await Promise.all(names.map((name) => readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")));
      return lines.filter((line) => line.startsWith("sleep\0" + "9896")).length;
    };
    await expect.poll(running, { timeout: 20_000 }).toBe(2);
    await close();
    expect(await running()).toBe(0);
  });

  it("let read open the whole of a long output", async () => {
    const { said } = await session(ToolPreset.standard(await realFs()));
    await said("bash", { command: "seq 9999 | sed 's/^/long line /' > f; exit", description: "" });
    const shown = await said("bash", { command: "cat f f f f f", description: "Long" });
    const [, handle = ""] = /kept as "([^"]+)"/.exec(shown) ?? [];
    expect(await said("read", { path: handle, offset: 10_000, limit: 1 })).toContain("long line 1");
  });

  it("edit by anchors, with settings of their own, and open the whole of a long output", async () => {
    const fs = await realFs();
    await fs.writeFile("f", "one\ntwo\n");
    const preset = ToolPreset.hashline(fs, { hashLength: 4, grep: { maxFileBytes: 1000 }, edit: { readFirst: true } });
    const { said } = await session(preset.merge(ToolPreset.shell()));
    const anchor = /^(2:[a-z2-7]{4})→two$/m.exec(await said("hashline_grep", { query: "two" }))?.[1] ?? "";
    await said("hashline_edit", { path: "f", edits: [{ op: "replace", anchor, content: "2" }] });
    expect(await said("hashline_read", { path: "f" })).toMatch(/^1:[a-z2-7]{4}→one\n2:[a-z2-7]{4}→2$/);
    const command = `cd '${fs.root}'; seq 9999 | sed 's/^/long line /' > f; cat f f f f`;
    const shown = await said("bash", { command, description: "" });
    const [, handle = ""] = /kept as "([^"]+)"/.exec(shown) ?? [];
    expect(await said("hashline_read", { path: handle, offset: 10_001, limit: 1 })).toMatch(/^long line \d+\n/);
    expect(await said("hashline_grep", { query: "long" })).toContain("larger than 1,000 bytes");
  });

  it("pass their options on", async () => {
    const fs = new MemoryFileSystem({ a: "1\n" });
    const { said } = await session(
      ToolPreset.files(fs, { edit: { readFirst: true, matchLookalikes: undefined }, read: { images: false } })
        .merge(
          ToolPreset.shell({
            env: { PATH: process.env.PATH, A_TOKEN: "kept" },
            keepVariables: ["A_TOKEN"],
            variables: { set: { B: "set" } },
          }),
        )
        .merge(ToolPreset.searchFiles(fs, { maxFileBytes: 1 }))
        .merge(ToolPreset.glob(fs, { hidden: false })),
    );
    await fs.writeFile(".b", "");
    expect(await said("glob", { pattern: "*" })).toBe("a");
    expect(await said("edit", { path: "a", old_string: "1", new_string: "2" })).toContain("has not been read yet");
    expect(await said("bash", { command: "echo $A_TOKEN $B", description: "" })).toBe("exit: 0\nkept set");
    expect(await said("search_file", { query: "1" })).toContain("[1 file larger than 1 byte not searched.]");
  });

  it("send input to what runs in the background, where that is wished for", async () => {
    const { said } = await session(ToolPreset.shell({ bash: { backgroundInput: true } }));
    const call = { command: "read a; echo got $a", description: "", is_background: true, takes_input: true };
    expect(await said("bash", call)).toContain("Runs in the background as task-1");
    expect(await said("task_input", { task_id: "task-1", text: "it" })).toBe(
      "Sent to task-1. What it answers is told by task_output.",
    );
    expect(await said("task_output", { task_ids: ["task-1"], timeout_ms: 30_000 })).toContain("exit 0\ngot it");
  });

  it("are added to a running session", async () => {
    const manager = await ToolPreset.fromConstructors([]).intoManager(newSessionId());
    await registerFileTools(manager, new MemoryFileSystem());
    await registerShellTool(manager, { bash: { enabledBackground: false } });
    expect(manager.names()).toEqual(["read", "write", "edit", "list", "bash"]);
  });
});
