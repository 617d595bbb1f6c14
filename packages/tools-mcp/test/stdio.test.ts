import path from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { spawnWith } from "../src/node.js";
import { call, connect, isAlive, logOf, scripted, tempFolder, textOf, until } from "./helpers.js";

const object = { type: "object" };

test("an aborted call is cancelled at the server, and the next one works", async () => {
  const log = path.join(tempFolder(), "log");
  const { manager } = await connect({
    s: scripted({
      log,
      tools: [
        { name: "hang", inputSchema: object },
        { name: "echo", inputSchema: object },
      ],
    }),
  });
  const controller = new AbortController();
  const running = call(manager, "s__hang", {}, controller.signal);
  await until(() => logOf(log).some(({ method }) => method === "tools/call"));
  controller.abort();
  expect((await running).errorDetail).toBe("cancelled");
  await until(() => logOf(log).some(({ method }) => method === "notifications/cancelled"));
  expect(textOf(await call(manager, "s__echo", { value: 1 }))).toBe("1");
});

test("a call that takes longer than its server may is ended", async () => {
  const { manager } = await connect({
    s: scripted({ tools: [{ name: "hang", inputSchema: object }] }, { timeoutMs: 50 }),
  });
  const outcome = await call(manager, "s__hang");
  expect(outcome.errorDetail).toBe("timeout");
  expect(textOf(outcome)).toContain("longer than 0.05 s");
});

test("a server that dies in a call: the call says so with what it last wrote, and the next one finds it restarted", async () => {
  const { manager, servers, events } = await connect({
    s: scripted({
      stderr: "warning: about to misbehave\n",
      tools: [
        { name: "die", inputSchema: object },
        { name: "echo", inputSchema: object },
      ],
    }),
  });
  const outcome = await call(manager, "s__die");
  expect(outcome.errorDetail).toBe("network");
  expect(textOf(outcome)).toMatch(/"s" was lost while the call ran.*not known.*code 9.*about to misbehave/s);
  expect(outcome.attempts).toBe(1);
  expect(textOf(await call(manager, "s__echo", { value: "back" }))).toBe('"back"');
  expect(servers.status()[0]).toMatchObject({ state: "ready" });
  const states = events.flatMap((event) => (event.type === "state" ? [event.state] : []));
  expect(states).toEqual(["connecting", "ready", "waiting", "connecting", "ready"]);
});

test("all calls in flight fail when their server dies, each at once", async () => {
  const { manager } = await connect({
    s: scripted({
      tools: [
        { name: "die", inputSchema: object },
        { name: "hang", inputSchema: object },
      ],
    }),
  });
  const outcomes = await Promise.all([call(manager, "s__hang"), call(manager, "s__hang"), call(manager, "s__die")]);
  expect(outcomes.map(({ errorDetail }) => errorDetail)).toEqual(["network", "network", "network"]);
});

test("a server that is lost is connected to again by itself", async () => {
  const waits: number[] = [];
  const { manager, servers, events } = await connect(
    { s: scripted({ tools: [{ name: "die", inputSchema: object }] }) },
    { sleep: async (ms) => void waits.push(ms) },
  );
  await call(manager, "s__die");
  await until(() => events.filter((event) => event.type === "state" && event.state === "ready").length === 2);
  expect(servers.status()[0]?.state).toBe("ready");
  expect(waits).toEqual([1000]);
});

test("a server that never starts is given up after ever longer waits, says why, and keeps no other from working", async () => {
  const waits: number[] = [];
  const { manager, servers, events } = await connect(
    { bad: scripted({ die: 3, stderr: "no licence\n" }), good: scripted() },
    { sleep: async (ms) => void waits.push(ms) },
  );
  await until(() => events.filter((event) => event.type === "state" && event.state === "failed").length === 6);
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000]);
  const status = servers.status().find(({ name }) => name === "bad");
  expect(status).toMatchObject({ state: "failed", tools: [] });
  expect(status?.reason).toMatch(/code 3.*no licence/s);
  expect(textOf(await call(manager, "good__echo", { value: 1 }))).toBe("1");
});

test("a server that was down at the start brings its tools when it is up", async () => {
  const dieOnce = path.join(tempFolder(), "died");
  const { manager, servers } = await connect({ s: scripted({ dieOnce }) }, { sleep: async () => {} });
  await until(() => servers.status()[0]?.state === "ready");
  expect((await manager.searchTools("echo"))[0]?.name).toBe("s__echo");
  expect(textOf(await call(manager, "s__echo", { value: 1 }))).toBe("1");
});

test("a program that is not there is told by its name", async () => {
  const { servers } = await connect({ s: { command: "no-such-program-here" } });
  expect(servers.status()[0]?.reason).toContain('there is no program "no-such-program-here"');
});

test("the environment of the server: what it was given, what a program needs to run, and no more", async () => {
  process.env.MCP_TEST_SECRET = "sk-leak";
  try {
    const folder = tempFolder();
    const log = path.join(folder, "log");
    await connect({ s: scripted({ log }, { env: { GIVEN: "yes", EMPTY: "" }, cwd: folder }) });
    const [first] = logOf(log);
    const env = first?.env as { [name: string]: string };
    expect(env).toMatchObject({ GIVEN: "yes", EMPTY: "", PATH: process.env.PATH });
    expect(JSON.stringify(env)).not.toContain("sk-leak");
    expect(Object.keys(env).filter((key) => key.startsWith("NODE_") || key.startsWith("npm_"))).toEqual([]);
    expect(first?.cwd).toContain(path.basename(folder));
  } finally {
    delete process.env.MCP_TEST_SECRET;
  }
});

test.skipIf(process.platform === "win32")(
  "the end takes the server and all that it started, however stubborn",
  async () => {
    const log = path.join(tempFolder(), "log");
    const settings = { s: scripted({ log, stubborn: true, child: true }) };
    const { servers } = await connect(settings, { spawn: spawnWith({ graceMs: 50 }) });
    const pids = logOf(log).flatMap(({ started, child }) => [started, child].filter((pid) => typeof pid === "number"));
    expect(pids).toHaveLength(2);
    expect(pids.every(isAlive)).toBe(true);
    await servers.close();
    await until(() => !pids.some(isAlive));
    expect(servers.status()[0]?.state).toBe("closed");
  },
);

test.skipIf(process.platform === "win32")(
  "a server that dies takes with it what it started and what holds its pipes",
  async () => {
    const log = path.join(tempFolder(), "log");
    const { manager } = await connect({
      s: scripted({ log, child: true, tools: [{ name: "die", inputSchema: object }] }),
    });
    const child = logOf(log).find((entry) => "child" in entry)?.child as number;
    expect((await call(manager, "s__die")).errorDetail).toBe("network");
    await until(() => !isAlive(child));
  },
);

test("after the end a call says that the server was closed", async () => {
  const { manager, servers } = await connect({ s: scripted() });
  await servers.close();
  const outcome = await call(manager, "s__echo");
  expect(outcome.errorDetail).toBe("serviceUnavailable");
  expect(textOf(outcome)).toContain("was closed");
});

test("tools that come and go are found and lost by the session at once, and one in use says that it is gone", async () => {
  const list: { name: string; inputSchema: { type: string } }[] = [
    { name: "set", inputSchema: object },
    { name: "old", inputSchema: object },
    { name: "used", inputSchema: object },
  ];
  const { manager, events } = await connect({ s: scripted({ tools: list }) });
  manager.activate(["s__used"]);
  await call(manager, "s__set", {
    value: [
      { name: "set", inputSchema: object },
      { name: "fresh_paint", description: "Paints.", inputSchema: object },
    ],
  });
  await until(() => manager.names().includes("s__fresh_paint"));
  expect((await manager.searchTools("paint"))[0]?.name).toBe("s__fresh_paint");
  expect(manager.names()).not.toContain("s__old");
  expect(manager.offeredTools().tools).toHaveLength(1); // the prompt's cache holds
  const outcome = await call(manager, "s__used");
  expect(outcome.errorDetail).toBe("notFound");
  expect(textOf(outcome)).toContain("any more");
  expect(events).toContainEqual({ type: "removed", server: "s", tools: ["s__old", "s__used"] });
  await call(manager, "s__set", { value: list });
  await until(() => manager.names().includes("s__old"));
  expect((await call(manager, "s__used")).errorDetail).toBeUndefined();
});

test("progress is passed on, however much of it there is", async () => {
  const { manager } = await connect({ s: scripted({ tools: [{ name: "progress", inputSchema: object }] }) });
  const seen: (string | undefined)[] = [];
  const request = { id: "1", name: "s__progress", arguments: { value: 2000 } };
  for await (const outcome of manager.runCalls([request], { progress: (_, { text }) => void seen.push(text) }))
    expect(outcome.promptText).toBe("2000");
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.every((text) => /^step \d+$/.test(text ?? ""))).toBe(true);
});

test("what a server refuses reaches the model as its own words", async () => {
  const { manager } = await connect({ s: scripted({ tools: [{ name: "fail", inputSchema: object }] }) });
  const refused = await call(manager, "s__fail", { value: "no such column", code: -32602 });
  expect(refused.errorDetail).toBe("invalidArguments");
  expect(textOf(refused)).toContain("no such column");
  expect((await call(manager, "s__fail", { value: "disk full" })).errorDetail).toBe("execution");
});

test("a result that says that it failed is a failed call", async () => {
  const results = { echo: { isError: true, content: [{ type: "text", text: "no such file: a.txt" }] } };
  const { manager } = await connect({ s: scripted({ results }) });
  const outcome = await call(manager, "s__echo");
  expect(outcome).toMatchObject({ errorDetail: "no such file: a.txt", promptText: "no such file: a.txt" });
});
