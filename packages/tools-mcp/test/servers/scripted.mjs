// An MCP server on standard input and output that does as it is told: `node scripted.mjs '<JSON>'`.
// Nothing of an SDK in it, so that it can lie in every way.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const given = JSON.parse(process.argv[2] ?? "{}");
const script = given.file === undefined ? given : JSON.parse(readFileSync(given.file, "utf8"));
const log = (entry) => script.log && appendFileSync(script.log, `${JSON.stringify(entry)}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const object = { type: "object", properties: { value: {} } };

let tools = script.tools ?? [{ name: "echo", description: "Gives its value back.", inputSchema: object }];
log({ started: process.pid, env: process.env, cwd: process.cwd() });
if (script.stderr) process.stderr.write(script.stderr);
if (script.junk) process.stdout.write(script.junk);
if (script.child) {
  // Something that the server starts, which holds its pipes open.
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
  log({ child: child.pid });
}
if (script.dieOnce !== undefined && !existsSync(script.dieOnce)) {
  writeFileSync(script.dieOnce, "");
  process.exit(7);
}
if (script.die !== undefined) process.exit(script.die);
// The standing of this start: the second start of a server may list other tools than the first.
if (script.toolsByStart) {
  const { file, lists } = script.toolsByStart;
  const start = existsSync(file) ? 1 : 0;
  writeFileSync(file, "");
  tools = lists[start];
}

/** A page of a list that goes on for ever. */
const page = (params, list, make) => {
  const at = Number(params?.cursor ?? 0);
  return { [list]: Array.from({ length: 2000 }, (_, i) => make(`n${at}_${i}`)), nextCursor: String(at + 1) };
};

const answers = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true }, ...script.capabilities },
    serverInfo: { name: "scripted", version: "1" },
    instructions: script.instructions,
  }),
  "tools/list": ({ params }) =>
    script.endless === "tools" ? page(params, "tools", (name) => ({ name, inputSchema: object })) : { tools },
  "resources/list": ({ params }) => page(params, "resources", (name) => ({ name, uri: `x://${name}` })),
  "tools/call": async ({ params }) => {
    const { name, arguments: args = {} } = params;
    const result = script.results?.[name];
    if (result !== undefined) return result;
    if (name === "die") process.exit(9);
    if (name === "hang") return new Promise(() => {});
    if (name === "fail")
      throw Object.assign(new Error(String(args.value ?? "it failed")), { code: args.code ?? -32000 });
    if (name === "big") return text("x".repeat(args.value));
    if (name === "junk") process.stdout.write('{not json\n[1,2\n\n{"jsonrpc":"2.0"}\n');
    if (name === "progress")
      for (let i = 1; i <= args.value; i++)
        send({
          method: "notifications/progress",
          params: { progressToken: params._meta?.progressToken, progress: i, total: args.value, message: `step ${i}` },
        });
    if (name === "deaf") {
      process.stdin.pause(); // whatever is written is not read any more
      const ask = `${JSON.stringify({ jsonrpc: "2.0", id: "i".repeat(args.value), method: "ping" })}\n`;
      const go = () => {
        while (process.stdout.write(ask));
        process.stdout.once("drain", go);
      };
      go();
      return new Promise(() => {});
    }
    if (name === "set") {
      tools = args.value;
      send({ method: "notifications/tools/list_changed" });
    }
    if (name === "flood") for (let i = 0; i < args.value; i++) send({ method: "notifications/tools/list_changed" });
    return text(JSON.stringify(args.value ?? null));
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  log({ method: message.method, params: message.params });
  if (message.id === undefined || script.mute) return;
  const answer = answers[message.method];
  if (answer === undefined) return send({ id: message.id, error: { code: -32601, message: "Method not found" } });
  try {
    send({ id: message.id, result: await answer(message) });
  } catch (error) {
    send({ id: message.id, error: { code: error.code, message: error.message } });
  }
});
if (script.stubborn) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
} else process.stdin.on("end", () => process.exit(0));
