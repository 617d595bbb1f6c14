import { Secret } from "@shedkit/provider";
import { expect, test } from "vitest";
import { McpServers, parseMcpServers } from "../src/index.js";
import { spawnServer } from "../src/node.js";

const read = (mcpServers: unknown, variables: { [name: string]: string } = {}) =>
  parseMcpServers({ mcpServers }, { variables });

/** As a variable is written in a configuration. */
const variable = (name: string) => `\${${name}}`;

/** The message of what is thrown. */
function fault(mcpServers: unknown): string {
  try {
    read(mcpServers);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("nothing was thrown");
}

test("the form that is written down everywhere is taken", () => {
  const [files, far] = read({
    files: { command: "npx", args: ["-y", "some-server", "."], env: { A: "1" }, cwd: "/tmp" },
    far: { type: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer x" }, timeoutMs: 5 },
  });
  expect(files).toMatchObject({
    name: "files",
    reach: { type: "stdio", command: "npx", args: ["-y", "some-server", "."] },
  });
  expect(far).toMatchObject({ name: "far", reach: { url: "https://example.com/mcp" }, timeoutMs: 5, disabled: false });
  expect(far?.reach.type === "http" && far.reach.headers.Authorization?.reveal()).toBe("Bearer x");
});

test("every field that is not right is named at once, with what was wanted and what came", () => {
  const message = fault({
    a: { command: 7, args: "x", env: { "": "1", K: 2 }, cwd: "" },
    b: { url: "ftp://x", type: "sse", headers: { "bad name": "x", Y: "a\nb" } },
    c: {},
    d: { command: "x", url: "https://x" },
    e__f: { command: "x" },
    _k: { command: "x" },
    l_: { command: "x" },
    g: { command: "x", timeoutMs: -1, disabled: "no", wat: 1 },
    h: null,
    i: { url: "https://user:pass@x" },
    j: { url: "http://example.com", headers: { A: "b" } },
  });
  for (const text of [
    "mcpServers.a.command: wanted a string that is not empty; got 7",
    'mcpServers.a.args: wanted a list of strings; got "x"',
    "mcpServers.a.env.K: wanted a string; got a number",
    "mcpServers.a.cwd: wanted a string that is not empty",
    "mcpServers.b.url: wanted an http or https URL",
    'mcpServers.b.type: wanted "http" or "streamable-http" (the older SSE transport is not spoken here); got "sse"',
    "mcpServers.b.headers.bad name:",
    "mcpServers.b.headers.Y: wanted a text of one line",
    'mcpServers.c: wanted a "command" that starts it or a "url" that reaches it; got neither',
    "mcpServers.d: wanted",
    "mcpServers.e__f: a server's name has 1 to 32 letters",
    "mcpServers._k: a server's name",
    "mcpServers.l_: a server's name",
    "mcpServers.g.timeoutMs: wanted milliseconds from 1 to 86400000; got -1",
    'mcpServers.g.disabled: wanted true or false; got "no"',
    "mcpServers.g.wat: wanted one of",
    "mcpServers.h: wanted an object; got null",
    "mcpServers.i.url: wanted a URL without user and password",
    "mcpServers.j.url: wanted https, since headers are sent along; got http",
  ])
    expect(message).toContain(text);
});

test("no value of a variable or a header is in a message", () => {
  const message = fault({
    a: { command: "x", env: { K: "sk-1\0" } },
    b: { url: "https://x", headers: { Y: "sk-2\r\nX: y", Z: "sk-3\0" } },
  });
  expect(message).not.toContain("sk-");
});

test("variables are filled in, and one that is not there is named", () => {
  const [server] = read(
    { a: { command: "x", args: [`${variable("HOME")}/y`], env: { K: variable("KEY") } } },
    { HOME: "/h", KEY: "k" },
  );
  expect(server?.reach).toMatchObject({ args: ["/h/y"] });
  const filled = server?.reach.type === "stdio" && server.reach.env.K;
  expect(filled instanceof Secret && filled.reveal()).toBe("k");
  expect(fault({ a: { command: "x", env: { K: variable("KEY") } } })).toContain(
    'mcpServers.a.env.K: wanted a variable "KEY"',
  );
  expect(fault({ a: { command: variable("constructor") } })).toContain('"constructor"');
});

test.each([undefined, null, 7, [], {}, { mcpServers: [] }])("%j is no configuration", (config) => {
  expect(() => parseMcpServers(config)).toThrow(/wanted an object/);
});

test("a server that is left out is not started, and none is started where none can be", async () => {
  const settings = read({ a: { command: "no-such-program", disabled: true } });
  const servers = await McpServers.connect(settings);
  expect(servers.status()).toEqual([]);
  await servers.close();
  await expect(McpServers.connect(read({ a: { command: "x" } }))).rejects.toThrow("mcpServers.a.command");
  const twice = [...read({ a: { command: "x" } }), ...read({ a: { command: "y" } })];
  await expect(McpServers.connect(twice, { spawn: spawnServer })).rejects.toThrow('"a" is there twice');
});
