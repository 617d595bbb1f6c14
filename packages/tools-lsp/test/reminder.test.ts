import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ClientNames,
  type FileChangeNote,
  fileChangesOf,
  Resources,
  ToolCallResult,
  type ToolContext,
} from "@shedkit/tool";
import { expect, test, vi } from "vitest";
import { diagnosticsReminder, type LanguageServers } from "../src/index.js";
import { poolOf } from "../src/servers.js";
import { folder, scripted, serversOf, TYPESCRIPT } from "./helpers.js";

const NAMES: ClientNames = { tool: "any", param: (name) => name, toolOf: () => undefined, paramOf: () => undefined };

type Ask = (...changes: FileChangeNote[]) => Promise<string>;

/** What is said after calls of one session that changed so much. */
function after(servers: LanguageServers, resources = new Resources()): Ask {
  const reminder = diagnosticsReminder(servers);
  const ctx: ToolContext = {
    callId: "1",
    signal: new AbortController().signal,
    resources,
    names: NAMES,
    notify: () => {},
  };
  return async (...changes) => {
    for (const change of changes) fileChangesOf(resources).add(change);
    const said = await reminder.collect(ctx, new ToolCallResult([]));
    return said.map(({ text }) => text).join("\n");
  };
}

/** Asks after calls that change nothing until something is said. */
async function saidAtLast(ask: Ask): Promise<string> {
  return vi.waitFor(
    async () => {
      const text = await ask();
      if (text === "") throw new Error("nothing was said");
      return text;
    },
    { timeout: 50_000 },
  );
}

const changed = (path: string): FileChangeNote => ({ path, change: "changed" });

const HEAD = "The language server says of the files as they are now:\n";

test("after an edit a real server's errors are told once, and that they are gone", async () => {
  const fs = await folder({
    "tsconfig.json": '{ "compilerOptions": { "strict": true, "noEmit": true } }',
    "a.ts": "export const a: number = 'x';\n",
    "b.ts": 'import { a } from "./a.js";\nexport const b: number = a;\n',
  });
  const servers = serversOf(fs, { typescript: TYPESCRIPT });
  const ask = after(servers);
  expect(await ask()).toBe(""); // a call that changes nothing starts nothing
  expect(servers.pidOf("typescript")).toBeUndefined();

  const first = await ask(changed("a.ts"));
  const told = first === "" ? await saidAtLast(ask) : first;
  expect(told).toBe(`${HEAD}a.ts:1:14 error 2322: Type 'string' is not assignable to type 'number'.`);
  expect(await ask()).toBe("");

  // As a command would: no output says so.
  await writeFile(join(fs.root, "a.ts"), "export const a = 1;\n");
  expect(await saidAtLast(ask)).toBe(`${HEAD}a.ts: no errors or warnings any more.`);
}, 180_000);

const SPEAKS = `
  const errors = (text) => [...text.matchAll(/bad/g)].map(({ index }) => ({
    range: { start: { line: 0, character: index }, end: { line: 0, character: index + 3 } },
    message: "this is bad\\nvery bad",
  }));
  connection.onRequest("initialize", () => ({ capabilities: {} }));
  const say = (uri, text) => connection.sendNotification("textDocument/publishDiagnostics", { uri, diagnostics: errors(text) });
  connection.onNotification("textDocument/didOpen", ({ textDocument: { uri, text } }) => say(uri, text));
  connection.onNotification("textDocument/didChange", (p) => say(p.textDocument.uri, p.contentChanges[0].text));
`;

test("what patches, writes and moves changed is looked at; no more is told than fits", async () => {
  const fs = await folder({
    "1.x": "bad ".repeat(25),
    "2.x": "bad ".repeat(25),
    "3.x": "bad",
    "4.x": "good",
    "5.y": "bad",
  });
  const servers = serversOf(fs, { x: await scripted(fs, SPEAKS) });
  const ask = after(servers);
  await poolOf(servers).start("x", new AbortController().signal);
  const told = [await ask(changed("1.x"), changed("2.x"))];
  while (!told.join("").includes("2.x:1:1 ")) told.push(await ask());
  for (const path of ["1.x", "2.x"]) {
    const lines = told
      .join("\n")
      .split("\n")
      .filter((line) => line.startsWith(path));
    expect(lines).toHaveLength(10);
    expect(lines[1]).toBe(`${path}:1:5 error: this is bad very bad`);
  }
  expect(told.join("\n")).toMatch(/more are not shown/);

  expect(await ask({ path: "5.y", change: "created" })).toBe(""); // nobody's language
  expect(await ask({ path: "../up.x", change: "created" })).toBe("");
  const moved = await ask({ path: "3.x", change: "moved", from: "0.x" });
  expect(moved === "" ? await saidAtLast(ask) : moved).toBe(`${HEAD}3.x:1:1 error: this is bad very bad`);
});

test("a file's name cannot pass for another line", async () => {
  const path = "a\n9.x:1:1 error: forged\u202e.x";
  const fs = await folder({ [path]: "bad" });
  const servers = serversOf(fs, { x: await scripted(fs, SPEAKS) });
  const ask = after(servers);
  await poolOf(servers).start("x", new AbortController().signal);
  const text = await ask({ path, change: "created" });
  expect(text === "" ? await saidAtLast(ask) : text).toBe(
    `${HEAD}"a\\n9.x:1:1 error: forged\\u{202e}.x":1:1 error: this is bad very bad`,
  );
});

test("a server that never says anything is not waited for again and again", async () => {
  const fs = await folder({ "1.x": "bad" });
  const silent = 'connection.onRequest("initialize", () => ({ capabilities: {} }));';
  const servers = serversOf(fs, { x: await scripted(fs, silent) });
  const ask = after(servers);
  await poolOf(servers).start("x", new AbortController().signal);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const waits: (number | undefined)[] = [];
    for (let call = 0; call < 5; call++) {
      const spy = vi.spyOn(globalThis, "setTimeout");
      const said = ask(changed("1.x"));
      let done = false;
      said.finally(() => {
        done = true;
      });
      while (!done) {
        await vi.advanceTimersByTimeAsync(50);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await said).toBe("");
      waits.push(spy.mock.calls.map(([, ms]) => ms).find((ms) => ms === 500));
      spy.mockRestore();
    }
    expect(waits).toEqual([500, 500, 500, undefined, undefined]);
  } finally {
    vi.useRealTimers();
  }
});
