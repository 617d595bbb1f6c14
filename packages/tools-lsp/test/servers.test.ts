import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, Resources } from "@shedkit/tool";
import { expect, test } from "vitest";
import { type LanguageServers, lspTool } from "../src/index.js";
import { poolOf } from "../src/servers.js";
import { folder, groupEnds, PATIENT, scripted, serversOf } from "./helpers.js";

const HOVERS = `
  connection.onRequest("initialize", () => ({ capabilities: { hoverProvider: true } }));
`;
const HOVER = { operation: "hover", path: "1.x", symbol: "word" };

async function said(servers: LanguageServers, args: object = HOVER): Promise<string> {
  return (await callTool(lspTool(servers), args)).text;
}

const HELLO = `${HOVERS} connection.onRequest("textDocument/hover", () => ({ contents: "hello" }));`;

const project = { "1.x": "a word\n" };

test("a server that crashes while it is asked is asked anew, once", async () => {
  const fs = await folder(project);
  const script = `${HOVERS}
    connection.onRequest("textDocument/hover", () => starts === 1 ? process.exit(3) : { contents: "start " + starts });`;
  const servers = serversOf(fs, { x: await scripted(fs, script) });
  expect(await said(servers)).toBe("1.x:1\n\nstart 2");
});

test("one that crashes always is left alone for longer and longer", async () => {
  const fs = await folder(project);
  const script = `${HOVERS}
    connection.onRequest("textDocument/hover", () => { console.error("out of cheese"); process.exit(3); });`;
  let now = 0;
  const server = await scripted(fs, script);
  const servers = serversOf(fs, { x: server }, { ...PATIENT, now: () => now });
  const starts = async (): Promise<string> => readFile(join(fs.root, "starts"), "utf8");

  expect(await said(servers)).toBe(
    'The language server "x" ended while it was asked: it ended with code 3. It last wrote: out of cheese.',
  );
  expect(await starts()).toBe("2");
  const down = "It is started again in";
  expect(await said(servers)).toContain(`${down} 1 s; do without it until then.`);
  expect(await starts()).toBe("2");
  now += 1000;
  await said(servers);
  expect(await starts()).toBe("3");
  expect(await said(servers)).toContain(`${down} 2 s`);
  for (let crash = 0; crash < 8; crash++) {
    now += 30_000;
    await said(servers);
  }
  expect(await starts()).toBe("11");
  expect(await said(servers)).toContain(`${down} 30 s`);
});

test("a call without a symbol that needs one says so, before a server is started for it", async () => {
  const servers = serversOf(await folder(project), { x: { command: "not-there", languages: { ".x": "x" } } });
  for (const operation of ["hover", "definition", "implementation", "references"]) {
    expect(await said(servers, { operation, path: "1.x", symbol: " " })).toContain(`${operation} needs symbol`);
  }
  expect(await said(servers, { operation: "symbols", path: "1.x" })).not.toContain("needs symbol");
});

test("a program that is not there, or speaks no protocol, is told with its last words", async () => {
  const fs = await folder({
    ...project,
    "talk.mjs": "console.log('Content-Length: nonsense\\r\\n\\r\\nHello'); setTimeout(() => {}, 1e6);",
  });
  const languages = { ".x": "x" };
  const none = serversOf(fs, { x: { command: "no-such-program-at-all", languages } });
  expect(await said(none)).toBe('The language server "x" did not start: there is no program "no-such-program-at-all".');
  const talks = serversOf(fs, { x: { command: process.execPath, args: [join(fs.root, "talk.mjs")], languages } });
  expect(await said(talks)).toContain('The language server "x" did not start: it was ended by SIGKILL');
});

test("a server that starts or answers too slowly is told; it is not asked for longer", async () => {
  const fs = await folder(project);
  const never = "new Promise(() => {})";
  const mute = await scripted(fs, `connection.onRequest("initialize", () => ${never});`);
  const servers = serversOf(fs, { x: mute }, { ...PATIENT, startTimeoutMs: 300 });
  expect(await said(servers)).toBe('The language server "x" did not start within 0.3 s.');

  const other = await folder(project);
  const slow = `${HOVERS} connection.onRequest("textDocument/hover", () => new Promise(() => {}));`;
  const slows = serversOf(other, { x: await scripted(other, slow) }, { ...PATIENT, requestTimeoutMs: 300 });
  expect(await said(slows)).toBe('The language server "x" did not answer within 0.3 s.');
});

test("an abort ends the wait at once, at the start and in a request", async () => {
  const fs = await folder(project);
  const servers = serversOf(fs, {
    x: await scripted(fs, `${HOVERS} connection.onRequest("textDocument/hover", () => new Promise(() => {}));`),
  });
  for (const when of ["start", "request"]) {
    const abort = new AbortController();
    const call = callTool(lspTool(servers), HOVER, { signal: abort.signal });
    if (when === "request") await poolOf(servers).start("x", new AbortController().signal);
    abort.abort(new Error("enough"));
    await expect(call).rejects.toThrow();
  }
});

test("two calls at once share one server; closing ends one that is starting too", async () => {
  const fs = await folder(project);
  const servers = serversOf(fs, { x: await scripted(fs, HELLO) });
  await Promise.all([said(servers), said(servers), said(servers)]);
  expect(await readFile(join(fs.root, "starts"), "utf8")).toBe("1");
  const pid = servers.pidOf("x") ?? 0;
  await Promise.all([servers.close(), servers.close()]);
  await groupEnds(pid);

  const starting = expect(poolOf(servers).start("x", new AbortController().signal)).rejects.toThrow(
    "servers were closed",
  );
  await servers.close();
  await starting;
});

test("a server that does not end when asked is killed, with what it started", async () => {
  const fs = await folder(project);
  const script = `${HOVERS}
    import { spawn } from "node:child_process";
    process.on("SIGTERM", () => {});
    connection.onNotification("exit", () => {}); setInterval(() => {}, 1000);
    connection.onRequest("textDocument/hover", () => {
      spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      return { contents: "started" };
    });`;
  const servers = serversOf(fs, { x: await scripted(fs, script) }, { ...PATIENT, graceMs: 200 });
  expect(await said(servers)).toContain("started");
  const pid = servers.pidOf("x") ?? 0;
  await servers.close();
  await groupEnds(pid);
});

test("a server sees no secrets, gets its settings, may change nothing, and is told in the order of changes", async () => {
  const fs = await folder(project);
  const script = `
    connection.onRequest("initialize", (p) => {
      start = p;
      return { capabilities: { hoverProvider: true } };
    });
    let start;
    const told = [];
    connection.onNotification("textDocument/didOpen", (p) => told.push(p.textDocument.languageId + " " + p.textDocument.text));
    connection.onRequest("textDocument/hover", async ({ position }) => ({ contents: JSON.stringify({
      position, told, options: start.initializationOptions, root: start.rootUri,
      secret: process.env.MY_TOKEN ?? null, plain: process.env.PLAIN ?? null, own: process.env.OWN_KEY,
      settings: await connection.sendRequest("workspace/configuration", { items: [{ section: "x" }, { section: "y" }] }),
      applied: await connection.sendRequest("workspace/applyEdit", { edit: {} }),
    }) }));`;
  const server = {
    ...(await scripted(fs, script)),
    env: { OWN_KEY: "given" },
    initializationOptions: { fast: true },
    settings: { x: { a: 1 } },
  };
  const env = { ...process.env, MY_TOKEN: "t", PLAIN: "p" };
  const text = await said(serversOf(fs, { x: server }, { ...PATIENT, env }));
  expect(JSON.parse(text.slice(text.indexOf("{")))).toEqual({
    position: { line: 0, character: 2 },
    told: ["x a word\n"],
    options: { fast: true },
    root: `file://${fs.root}`,
    secret: null,
    plain: "p",
    own: "given",
    settings: [{ a: 1 }, null],
    applied: { applied: false },
  });
});

test("diagnostics are asked for where a server wants to be asked", async () => {
  const fs = await folder(project);
  const script = `
    connection.onRequest("initialize", () => ({ capabilities: { diagnosticProvider: {} } }));
    connection.onRequest("textDocument/diagnostic", () => ({ kind: "full", items: [
      { range: { start: { line: 1, character: 0 }, end: { line: 1, character: 1 } }, severity: 4, message: "a hint" },
      { range: { start: { line: 0, character: 2 }, end: { line: 0, character: 6 } }, severity: 2, code: "W1", message: "odd" },
    ] }));`;
  const servers = serversOf(fs, { x: await scripted(fs, script) });
  expect(await said(servers, { operation: "diagnostics", path: "1.x" })).toBe(
    '1 error or warning in "1.x":\n1:3 warning W1: odd',
  );
  expect(await said(servers, HOVER)).toBe('The language server "x" cannot answer "hover". Search the files instead.');
});

test("a server ends with the session that used it, and starts anew for the next", async () => {
  const fs = await folder(project);
  const servers = serversOf(fs, { x: await scripted(fs, HELLO) });
  const tool = lspTool(servers);
  const [first, second] = [new Resources(), new Resources()];
  await Promise.all([callTool(tool, HOVER, { resources: first }), callTool(tool, HOVER, { resources: second })]);
  const pid = servers.pidOf("x");
  expect(pid).toBeDefined();

  await first.dispose();
  expect(servers.pidOf("x")).toBe(pid);
  await second.dispose();
  expect(servers.pidOf("x")).toBeUndefined();
  await groupEnds(pid ?? 0); // and with all that it had started

  expect((await callTool(tool, HOVER)).text).toContain("hello");
  expect(servers.pidOf("x")).not.toBe(pid);
});

test("a server that no longer reads is ended; an abort is heard meanwhile", async () => {
  const fs = await folder({ "1.x": "word ".repeat(500_000), "2.x": "word" });
  const deaf = `${HELLO} connection.onNotification("initialized", () => { process.stdin.pause(); setInterval(() => {}, 1000); });`;
  const servers = serversOf(fs, { x: await scripted(fs, deaf) }, { ...PATIENT, requestTimeoutMs: 1500 });
  const first = said(servers);
  const abort = new AbortController();
  const second = callTool(lspTool(servers), { ...HOVER, path: "2.x" }, { signal: abort.signal });
  abort.abort();
  await expect(second).rejects.toThrow();
  expect(await first).toMatch(/^The language server "x" (has not listened for|did not answer within) 1.5 s\.$/);
});

test("files with letters that servers encode in other ways are the same files", async () => {
  const path = "a [id] @ü+(1).x";
  const fs = await folder({ [path]: "bad" });
  const script = `
    connection.onRequest("initialize", () => ({ capabilities: { definitionProvider: true } }));
    const strict = (uri) => "file://" + decodeURIComponent(new URL(uri).pathname).split("/").map(encodeURIComponent).join("/");
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
    connection.onNotification("textDocument/didOpen", ({ textDocument: { uri } }) =>
      connection.sendNotification("textDocument/publishDiagnostics", { uri: strict(uri), diagnostics: [{ range, message: "no" }] }));
    connection.onRequest("textDocument/definition", ({ textDocument: { uri } }) => ({ uri: strict(uri), range }));`;
  const servers = serversOf(fs, { x: await scripted(fs, script) });
  expect(await said(servers, { operation: "definition", path, symbol: "bad" })).toBe(
    `1 definition of "bad":\n${path}:1: bad`,
  );
  const tool = lspTool(servers, { diagnosticsMs: 50_000 });
  expect((await callTool(tool, { operation: "diagnostics", path })).text).toBe(
    `1 error or warning in "${path}":\n1:1 error: no`,
  );
});

test("a file's name cannot pass for another line, nor a huge file be read for one", async () => {
  const path = "a\n9.x:1: forged\u202e.x";
  const fs = await folder({ [path]: "bad", "b.x": "bad", "huge.x": `${"\n".repeat(5 * 1024 * 1024)}bad` });
  const script = `
    connection.onRequest("initialize", () => ({ capabilities: { referencesProvider: true } }));
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
    const last = { start: { line: 5 * 1024 * 1024, character: 0 }, end: { line: 5 * 1024 * 1024, character: 3 } };
    connection.onRequest("textDocument/references", ({ textDocument: { uri } }) =>
      [{ uri: new URL(encodeURIComponent(${JSON.stringify(path)}), uri).href, range }, { uri: new URL("huge.x", uri).href, range: last }]);`;
  const servers = serversOf(fs, { x: await scripted(fs, script) });
  expect(await said(servers, { operation: "references", path: "b.x", symbol: "bad" })).toBe(
    `2 references of "bad":\n"a\\n9.x:1: forged\\u{202e}.x":1: bad\nhuge.x:5242881:`,
  );
});

test("a server sees no secrets of the environment, but what it is given itself", async () => {
  const fs = await folder({ "a.x": "one\n" });
  const seen = join(fs.root, "env");
  const script = `writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env)); ${HELLO}`;
  const server = { ...(await scripted(fs, script)), env: { OWN_TOKEN: "given" } };
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: "postgres://u:secretpw@h/db",
    GITHUB_PAT: "ghp_x",
    NPM_AUTH: "abc",
    MY_TOKEN: "t",
    "BASH_FUNC_f%%": "() { curl -u me:pw; }",
    EDITOR: "ed",
  };
  const servers = serversOf(fs, { x: server }, { ...PATIENT, env });
  await poolOf(servers).start("x", new AbortController().signal);
  const names = Object.keys(JSON.parse(await readFile(seen, "utf8")));
  expect(names).toEqual(expect.arrayContaining(["PATH", "EDITOR", "OWN_TOKEN"]));
  for (const hidden of ["DATABASE_URL", "GITHUB_PAT", "NPM_AUTH", "MY_TOKEN", "BASH_FUNC_f%%"])
    expect(names).not.toContain(hidden);
});

test("a path is taken as the file tools take it: without quotes and spaces around it", async () => {
  const fs = await folder(project);
  const servers = serversOf(fs, { x: await scripted(fs, HOVERS) });
  const call = { operation: "hover", path: ' "no-such.x" ', symbol: "x" } as const;
  const result = await callTool(lspTool(servers), call);
  expect(result.text).toContain('"no-such.x"');
  expect(result.text).not.toContain("no language server");
  expect(lspTool(servers).metadata?.access?.(call)).toEqual([{ action: "read", target: `${fs.root}/no-such.x` }]);
});
