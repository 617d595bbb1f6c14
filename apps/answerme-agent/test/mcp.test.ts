import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ScriptedServer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { canMakeTerminals, Program, run, temporaryFolder } from "./program.js";

const clock = {
  command: process.execPath,
  args: [fileURLToPath(new URL("servers/clock.mjs", import.meta.url))],
  env: { ZONE: `\${TEST_ZONE}` },
};
const ask = [
  { answer: [{ call: "shed", arguments: { description: "what time is it" } }] },
  { answer: [{ call: "clock__time", arguments: {} }] },
  { answer: "It is 10:08." },
];

/** A project and a home with these settings, and a model that asks for the time. */
async function open(settings: { user?: object; project?: object }) {
  const folder = await temporaryFolder();
  const root = path.join(folder.path, "project");
  const home = path.join(folder.path, "home");
  await mkdir(root);
  await mkdir(path.join(home, ".config/answerme"), { recursive: true });
  const text = (value: object | undefined) => JSON.stringify(value ?? {}, null, 2);
  await writeFile(path.join(root, "answerme.json"), text(settings.project));
  await writeFile(path.join(home, ".config/answerme/answerme.json"), text(settings.user));
  const model = await ScriptedServer.start([...ask, ...ask]);
  const env = { OPENAI_BASE_URL: `${model.url}/v1`, ANSWERME_MODEL: "openai:scripted", TEST_ZONE: "UTC" };
  return {
    root,
    model,
    start: { home, env },
    change: (user: object) => writeFile(path.join(home, ".config/answerme/answerme.json"), text(user)),
    run: (...args: string[]) => run(["--root", root, ...args], { home, env }),
    async [Symbol.asyncDispose]() {
      await model.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("MCP servers of the settings", () => {
  it("bring their tools; one that is wrong or not there is named and keeps no other from working", async () => {
    const gone = { command: "no-such-program" };
    const wrong = { command: "x", args: "y" };
    await using t = await open({ user: { mcpServers: { clock, gone, wrong } } });
    const { code, stdout, stderr } = await t.run("--yes", "What time is it?");
    expect(stdout).toBe("It is 10:08.\n");
    expect(stderr).toContain("-> clock__time()");
    expect(stderr).toMatch(/MCP server gone: failed: there is no program "no-such-program"/);
    expect(stderr).toMatch(
      /MCP server wrong: .*wrong\.args: wanted a list of strings; got "y" \(.*answerme\.json:\d+\)/,
    );
    expect(JSON.stringify(t.model.requests[2]?.body)).toContain("10:08 UTC");
    expect(code).toBe(0);
  });

  it("are asked for without a terminal only with --yes", async () => {
    await using t = await open({ user: { mcpServers: { clock } } });
    const { code, stderr } = await t.run("What time is it?");
    expect(stderr).toContain("clock__time was not permitted, since nobody could be asked; --yes permits it");
    expect(code).toBe(4);
  });

  it("that come with the folder are not started before somebody allows it", async () => {
    await using t = await open({ project: { mcpServers: { clock } } });
    const { stderr } = await t.run("What time is it?");
    expect(stderr).toMatch(/MCP server clock: left out: nobody allowed it, and it comes with the folder/);
    expect(JSON.stringify(t.model.requests.at(-1)?.body)).not.toContain("10:08 UTC");
  });

  it("are listed by config, without the values of their variables, and tried by doctor", async () => {
    const far = { url: "https://mcp.example/x", headers: { Authorization: "Bearer k-123456" }, disabled: true };
    await using t = await open({ user: { mcpServers: { clock, far } } });
    const { stdout } = await t.run("config");
    expect(stdout).toMatch(/^mcpServers\.clock = .*clock\.mjs {3}\(.*answerme\.json:3\)$/m);
    expect(stdout).toMatch(/^mcpServers\.far = https:\/\/mcp\.example\/x \(switched off\)/m);
    expect(stdout).not.toContain("k-123456");
    const doctor = await t.run("doctor");
    expect(doctor.stdout).toMatch(/^MCP servers +clock: clock__time$/m);
    expect(doctor.stdout).toMatch(/far: switched off$/m);
  });

  it.skipIf(!canMakeTerminals)("do not run a tool that was changed since, until somebody accepts it", async () => {
    await using t = await open({ user: { mcpServers: { clock } } });
    expect((await t.run("--yes", "What time is it?")).stderr).not.toContain("changed");
    await t.change({ mcpServers: { clock: { ...clock, args: [...clock.args, "Tells the time on the moon."] } } });
    expect((await t.run("--yes", "What time is it?")).stderr).toContain("since they were changed: clock__time");
    expect(JSON.stringify(t.model.requests.at(-1)?.body)).not.toContain("10:08 UTC");
    const program = new Program(["--root", t.root], { ...t.start, terminal: true });
    await program.shows("> ");
    program.type("/tools accept clock__date\r");
    await program.shows('No tool "clock__date" is held');
    await program.shows("> ");
    program.type("/tools accept clock__time\r");
    await program.shows("clock__time may run as it is now: Tells the time on the moon.");
    await program.shows("> ");
    program.type("/quit\r");
    expect((await program.ended).code).toBe(0);
    expect((await t.run("doctor")).stdout).toMatch(/^MCP servers +clock: clock__time$/m);
  });

  it.skipIf(!canMakeTerminals)("of a folder are allowed once for always, and shown by /tools", async () => {
    await using t = await open({ project: { mcpServers: { clock } } });
    const args = ["--root", t.root];
    const first = new Program(args, { ...t.start, terminal: true });
    await first.shows('has the MCP server "clock"');
    await first.shows("[a]lways in this folder");
    first.type("a\r");
    await first.shows("> ");
    first.type("/tools\r");
    await first.shows("MCP server clock: clock__time");
    await first.shows("> ");
    first.type("/quit\r");
    expect((await first.ended).code).toBe(0);
    const second = new Program(args, { ...t.start, terminal: true });
    await second.shows("> ");
    second.type("What time is it?\r");
    await second.shows("[a]lways every clock__time in this session");
    second.type("y\r");
    await second.shows("It is 10:08.");
    await second.shows("> ");
    second.type("/quit\r");
    const { code, stdout } = await second.ended;
    expect(stdout).not.toContain("Use it?");
    expect(code).toBe(0);
  });
});
