import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { defineTool, ToolError, type ToolImpl } from "@shedkit/tool";
import { type StateFile, StateKeeper, stateFile, stateFileName, ToolSetBuilder } from "@shedkit/toolset";
import { Type } from "@sinclair/typebox";
import { describe, expect, onTestFinished, test, vi } from "vitest";

const shape = Type.Object({ n: Type.Integer() });
const counter = (version = 1, migrate?: (old: unknown, from: number) => { n: number } | undefined): ToolImpl =>
  defineTool({
    id: "count",
    kind: "other",
    description: "",
    input: Type.Object({ fail: Type.Optional(Type.Boolean()) }),
    state: { schema: shape, version, initial: () => ({ n: 0 }), migrate },
    run: ({ fail }, ctx) => {
      ctx.state.set({ n: ctx.state.get().n + 1 });
      if (fail) throw new ToolError("execution", "count", "failed after it had counted");
      return String(ctx.state.get().n);
    },
  });
const set = (tool: ToolImpl = counter(), file?: StateFile) =>
  new ToolSetBuilder().tool(tool).build(undefined, { stateFile: file });
const call = { id: "1", name: "count", arguments: {} };
const remembered = (n: number, version = 1) => ({ key: "user:count", version, value: { n } });

describe("memories", () => {
  test("what changed is told once", async () => {
    const one = await set();
    await one.dispatcher().run(call);
    expect(one.states.takeChanges()).toEqual([remembered(1)]);
    expect(one.states.takeChanges()).toEqual([]);
  });

  test("what was remembered comes back; another version or shape does not", async () => {
    const one = await set();
    expect(one.states.restore(remembered(7))).toBe(true);
    expect((await one.dispatcher().run(call)).promptText).toBe("8");
    expect(one.states.restore(remembered(1, 2))).toBe(false);
    expect(one.states.restore({ ...remembered(1), value: { n: "x" } })).toBe(false);
    expect((await one.dispatcher().run(call)).promptText).toBe("9");
  });

  test("a tool may make its memory of what another version left", async () => {
    const asked: unknown[] = [];
    const { states } = await set(
      counter(3, (old, from) => {
        asked.push([old, from]);
        if (from === 1) return { n: Number(old) };
        if (from === 2) return { n: 1.5 };
        throw new Error("no way");
      }),
    );
    expect(states.restore({ key: "user:count", version: 1, value: 41 })).toBe(true);
    expect(states.snapshot()).toEqual([remembered(41, 3)]);
    expect(states.restore({ key: "user:count", version: 2, value: null })).toBe(false);
    expect(states.restore({ key: "user:count", version: 9, value: [] })).toBe(false);
    expect(states.restore(remembered(5, 3))).toBe(true);
    expect(asked).toEqual([
      [41, 1],
      [null, 2],
      [[], 9],
    ]);
    expect(states.snapshot()).toEqual([remembered(5, 3)]);
  });

  test("can be read and changed from outside, as far as it fits", async () => {
    const one = await set();
    expect(one.states.get("user:count")).toEqual({ n: 0 });
    expect(one.states.get("user:none")).toBeUndefined();
    expect(one.states.set("user:count", { n: 41 })).toBe(true);
    expect(one.states.set("user:count", { n: "x" })).toBe(false);
    expect(one.states.set("user:none", { n: 1 })).toBe(false);
    expect((await one.dispatcher().run(call)).promptText).toBe("42");
    expect(one.states.takeChanges()).toEqual([remembered(42)]);
  });

  test("two sets do not share theirs", async () => {
    const [a, b] = [await set(), await set()];
    await a.dispatcher().run(call);
    expect((await b.dispatcher().run(call)).promptText).toBe("1");
  });
});

test("sessions have files of their own, in their folder", () => {
  const names = ["sess/1", "sess_1", "../../etc", "", "x".repeat(500), "é"].map(stateFileName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[\w-]{1,120}\.json$/);
  expect(stateFileName("sess/1")).toBe(names[0]);
});

async function folder() {
  const dir = await mkdtemp(path.join(tmpdir(), "state-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return { dir, file: stateFile(new NodeFileSystem(dir), "kept/state.json") };
}

describe("a file of memories", () => {
  test("keeps them from one set to the next, also what a call changed before it failed", async () => {
    const { dir, file } = await folder();
    const one = await set(counter(), file);
    await one.dispatcher().run(call);
    expect((await one.dispatcher().run({ ...call, arguments: { fail: true } })).error?.kind).toBe("execution");
    await one.close();
    expect(JSON.parse(await readFile(path.join(dir, "kept/state.json"), "utf8"))).toEqual({
      format: 1,
      state: { "user:count": { version: 1, value: { n: 2 } } },
    });
    const two = await set(counter(), file);
    expect((await two.dispatcher().run(call)).promptText).toBe("3");
    expect(two.warnings).toEqual([]);
    await two.close();
  });

  test("another session has another one", async () => {
    const fs = new MemoryFileSystem();
    const of = (session: string) => set(counter(), stateFile(fs, stateFileName(session)));
    const one = await of("a/b");
    await one.dispatcher().run(call);
    await one.close();
    expect((await (await of("a_b")).dispatcher().run(call)).promptText).toBe("1");
    expect((await (await of("a/b")).dispatcher().run(call)).promptText).toBe("2");
  });

  test.each(["{", "[]", "null", '{"format":2,"state":{}}', '{"format":1,"state":{"a":1}}', "\uFEFF{}", ""])(
    "that cannot be understood is kept beside, told, and begun anew: %j",
    async (text) => {
      const fs = new MemoryFileSystem();
      await fs.writeFile("state.json", text);
      const one = await set(counter(), stateFile(fs, "state.json"));
      const copy = (await fs.readdir(".")).map(({ name }) => name).find((name) => name.endsWith(".bak"));
      expect(one.warnings).toMatchObject([
        { tool: "(global)", category: "state", message: expect.stringContaining(copy ?? "no copy") },
      ]);
      await one.dispatcher().run(call);
      await one.close();
      expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(await fs.readFile(copy ?? ""))).toBe(text);
      expect((await set(counter(), stateFile(fs, "state.json"))).states.snapshot()).toEqual([remembered(1)]);
    },
  );

  test("keeps its bytes in the copy, whatever they are", async () => {
    const { dir, file } = await folder();
    const bytes = Uint8Array.of(0x7b, 0xff, 0x00, 0xc3);
    await file.write("");
    await writeFile(path.join(dir, "kept/state.json"), bytes);
    await (await set(counter(), file)).close();
    const copies = (await readdir(path.join(dir, "kept"))).filter((name) => name.endsWith(".bak"));
    expect(copies).toHaveLength(1);
    expect(new Uint8Array(await readFile(path.join(dir, "kept", copies[0] ?? "")))).toEqual(bytes);
  });

  test("whose values do not fit names the tools, keeps a copy, and keeps what is of tools that are not here", async () => {
    const fs = new MemoryFileSystem();
    const state = { "user:count": { version: 9, value: { n: 1 } }, "user:gone": { version: 3, value: [1] } };
    await fs.writeFile("state.json", JSON.stringify({ format: 1, state }));
    const one = await set(counter(), stateFile(fs, "state.json"));
    expect(one.warnings).toMatchObject([{ tool: "user:count", category: "state" }]);
    expect(await fs.readdir(".")).toHaveLength(2);
    await one.dispatcher().run(call);
    await one.close();
    expect(JSON.parse(new TextDecoder().decode(await fs.readFile("state.json"))).state).toEqual({
      "user:count": { version: 1, value: { n: 1 } },
      "user:gone": { version: 3, value: [1] },
    });
  });

  test("that is a folder, or stands outside, is an error that says so", async () => {
    const fs = new MemoryFileSystem();
    await fs.mkdir("state.json/inner", { recursive: true });
    await expect(set(counter(), stateFile(fs, "state.json"))).rejects.toMatchObject({ reason: "isADirectory" });
    expect(await fs.readdir("state.json")).toHaveLength(1);
    expect(() => stateFile(fs, "../state.json")).toThrow(/outside/);
  });

  test("is never seen half written", async () => {
    const { dir, file } = await folder();
    const textOf = (n: number) => JSON.stringify({ n, long: "é".repeat(20_000) });
    await file.write(textOf(0));
    const reader = (async () => {
      for (let last = 0; last < 100; )
        last = JSON.parse(await readFile(path.join(dir, "kept/state.json"), "utf8")).n as number;
    })();
    for (let n = 1; n <= 100; n++) await file.write(textOf(n));
    await reader; // parses whatever it reads
    expect(await readdir(path.join(dir, "kept"))).toEqual(["state.json"]);
  });
});

describe("the keeper", () => {
  /** Holds each write until it is let go on. */
  class Held implements StateFile {
    readonly texts: string[] = [];
    readonly open: { resolve(): void; reject(fault: Error): void }[] = [];
    async read(): Promise<undefined> {
      return undefined;
    }
    async setAside(): Promise<string> {
      return "nowhere";
    }
    write(text: string): Promise<void> {
      this.texts.push(text);
      return new Promise((resolve, reject) => this.open.push({ resolve, reject }));
    }
  }
  const countOf = (text: string | undefined) => JSON.parse(text ?? "{}").state["user:count"].value.n as number;

  test("writes a little after a change, many changes at once, and nothing where nothing changed", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const file = new Held();
    const one = await set();
    const keeper = await StateKeeper.open(one.states, file, { delayMs: 500 });
    const dispatcher = one.dispatcher();
    for (let i = 0; i < 10; i++) await dispatcher.run(call);
    expect(file.texts).toEqual([]);
    await vi.advanceTimersByTimeAsync(500);
    expect(file.texts.map(countOf)).toEqual([10]);
    file.open.shift()?.resolve();
    await vi.advanceTimersByTimeAsync(5000);
    await keeper.close();
    expect(file.texts).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("runs one write at a time, and of those that wait the newest alone", async () => {
    const file = new Held();
    const one = await set();
    const keeper = await StateKeeper.open(one.states, file);
    const dispatcher = one.dispatcher();
    await dispatcher.run(call);
    const first = keeper.flush();
    for (let i = 0; i < 5; i++) await dispatcher.run(call);
    const others = [keeper.flush(), keeper.close()];
    expect(file.texts.map(countOf)).toEqual([1]);
    file.open.shift()?.resolve();
    await vi.waitUntil(() => file.open.length > 0, { timeout: 30_000 });
    expect(file.texts.map(countOf)).toEqual([1, 6]);
    file.open.shift()?.resolve();
    await Promise.all([first, ...others]);
    await dispatcher.run(call);
    await keeper.flush();
    expect(file.texts).toHaveLength(2); // it was closed
  });

  test("tells whoever flushes that a write failed, and tries again", async () => {
    const file = new Held();
    const one = await set();
    const keeper = await StateKeeper.open(one.states, file);
    await one.dispatcher().run(call);
    const failing = keeper.flush();
    file.open.shift()?.reject(new Error("the disk is full"));
    await expect(failing).rejects.toThrow("the disk is full");
    const again = keeper.flush();
    file.open.shift()?.resolve();
    await again;
    expect(file.texts.map(countOf)).toEqual([1, 1]);
  });

  test("a write in the background that fails breaks nothing, and is made up for", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const file = new Held();
    const one = await set();
    const keeper = await StateKeeper.open(one.states, file, { delayMs: 1 });
    await one.dispatcher().run(call);
    await vi.advanceTimersByTimeAsync(1);
    file.open.shift()?.reject(new Error("the disk is full"));
    await vi.advanceTimersByTimeAsync(1);
    const closing = keeper.close();
    file.open.shift()?.resolve();
    await closing;
    expect(file.texts.map(countOf)).toEqual([1, 1]);
  });
});
