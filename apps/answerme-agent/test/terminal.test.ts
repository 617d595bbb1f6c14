import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Gate, ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { canMakeTerminals, Program, temporaryFolder, tour } from "./program.js";

const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const UP = "\u001b[A";

/** The program at a terminal, in a folder of its own, with a model server that answers like this. */
async function open(script: readonly ServerAnswer[], args: readonly string[] = [], env = {}) {
  const folder = await temporaryFolder();
  await writeFile(path.join(folder.path, "config.ini"), "port=8417\n");
  const server = await ScriptedServer.start(script);
  const started: Program[] = [];
  const start = (args: readonly string[]) => {
    const program = new Program(["--root", folder.path, "--model", "openai:scripted", ...args], {
      home: folder.path,
      terminal: true,
      env: { OPENAI_BASE_URL: `${server.url}/v1`, TERM: "xterm-256color", NO_COLOR: undefined, ...env },
    });
    started.push(program);
    return program;
  };
  return {
    program: start(args),
    again: start,
    server,
    folder: folder.path,
    async [Symbol.asyncDispose]() {
      for (const { child } of started) child.kill("SIGKILL");
      await Promise.all(started.map(({ ended }) => ended));
      await server.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

if (!canMakeTerminals) console.log("skipped: tests at a terminal need the script command of util-linux");

describe.skipIf(!canMakeTerminals)("at a terminal", () => {
  it("what is pasted is one message, whatever lines it has, and is sent by enter", async () => {
    await using t = await open([{ answer: "Four lines." }]);
    await t.program.shows("> ");
    t.program.type("\u001b[200~one\r");
    t.program.type("two\r\r  four\u001b[201~");
    await t.program.shows("  four");
    expect(t.server.requests).toHaveLength(0);
    t.program.type(`!${ENTER}`);
    await t.program.shows("Four lines.");
    expect(JSON.stringify(t.server.requests[0]?.body)).toContain(JSON.stringify("one\ntwo\n\n  four!").slice(1, -1));
    await t.program.shows("> ");
    t.program.type(CTRL_D);
    expect((await t.program.ended).code).toBe(0);
  });

  it("what was typed is there the next time, and a session is chosen from the list", async () => {
    await using t = await open([{ answer: "Yes." }, { answer: "You asked for the port." }]);
    await t.program.shows("> ");
    t.program.type(`Is this the port?${ENTER}`);
    await t.program.shows("Yes.");
    await t.program.shows("> ");
    t.program.type(CTRL_D);
    expect((await t.program.ended).code).toBe(0);
    const again = t.again(["--resume"]);
    await again.shows("1  ");
    await again.shows("Is this the port?");
    await again.shows("Which one? [1] ");
    again.type(ENTER);
    await again.shows('Going on with "Is this the port?"');
    await again.shows("> ");
    again.type(UP);
    await again.shows("Is this the port?");
    again.type(`${ENTER}`);
    await again.shows("You asked for the port.");
    await again.shows("> ");
    again.type(CTRL_D);
    expect((await again.ended).code).toBe(0);
    expect(JSON.stringify(t.server.requests[1]?.body)).toMatch(/Is this the port\?.*Yes\..*Is this the port\?/);
    const mode = (await stat(path.join(t.folder, ".local/share/answerme/history"))).mode & 0o777;
    expect(mode).toBe(0o600);
  });

  it("a whole task: ask, follow up, approve an edit, leave", async () => {
    const edit = { call: "edit", arguments: { path: "config.ini", old_string: "port=8417", new_string: "port=9000" } };
    await using t = await open([
      { answer: [{ call: "shed", arguments: { description: "edit a file" } }] },
      { answer: [edit] },
      { answer: "The port is **9000** now." },
      { answer: "It was 8417." },
    ]);
    const { program } = t;
    await program.shows("Model: scripted");
    await program.shows("> ");
    program.type(`Make the port 9000${ENTER}`);
    await program.shows('-> edit(path: "config.ini"');
    await program.shows("- port=8417");
    await program.shows("+ port=9000");
    await program.shows("Allow this?");
    program.type(`y${ENTER}`);
    await program.shows("The port is 9000 now.");
    expect(await readFile(path.join(t.folder, "config.ini"), "utf8")).toBe("port=9000\n");
    await program.shows("> ");
    program.type("What was it @conf");
    await program.shows("@conf");
    program.type("\t");
    await program.shows("ig.ini");
    program.type(` before?${ENTER}`);
    await program.shows("It was 8417.");
    await program.shows("> ");
    program.type(CTRL_D);
    expect((await program.ended).code).toBe(0);
    expect(JSON.stringify(t.server.requests.at(-1)?.body)).toContain("The file config.ini:\\nport=9000");
  });

  it("ctrl-C stops an answer, then clears a line, then leaves; arrow up brings the question back", async () => {
    const gate = new Gate();
    await using t = await open([{ answer: ["Let me", { wait: gate }] }, { answer: "Hello again." }]);
    const { program } = t;
    await program.shows("> ");
    program.type(`Hello${ENTER}`);
    await program.shows("Let me");
    program.type(CTRL_C);
    await program.shows("stopped");
    await program.shows("> ");
    program.type(UP);
    await program.shows("Hello");
    program.type(ENTER);
    await program.shows("Hello again.");
    await program.shows("> ");
    program.type("half a line");
    await program.shows("half a line");
    program.type(CTRL_C);
    program.type(CTRL_C);
    await program.shows("(ctrl-C again to leave)");
    program.type(CTRL_C);
    expect((await program.ended).code).toBe(130);
  });

  it("styles the answer, and does without under NO_COLOR", async () => {
    const script = [{ answer: "# Port\n\nIt is **8417**." }];
    const ask = async (env: NodeJS.ProcessEnv) => {
      const server = await ScriptedServer.start(script);
      await using folder = await temporaryFolder();
      const { stdout } = await new Program(["--root", tour, "--model", "openai:scripted", "The port?"], {
        home: folder.path,
        terminal: true,
        env: { OPENAI_BASE_URL: `${server.url}/v1`, TERM: "xterm-256color", NO_COLOR: undefined, ...env },
      }).ended;
      await server.close();
      return stdout;
    };
    expect(await ask({})).toContain("\u001b[1m8417");
    const plain = await ask({ NO_COLOR: "1" });
    expect(plain).toContain("# Port");
    expect(stripVTControlCharacters(plain.replaceAll("\u001b[K", ""))).toBe(plain.replaceAll("\u001b[K", ""));
  });

  it("sends a terminal that calls itself dumb no control sequences, and asks there all the same", async () => {
    await using t = await open([{ answer: "It is **8417**." }], [], { TERM: "dumb" });
    await t.program.shows("> ");
    t.program.type(`The port?${ENTER}`);
    await t.program.shows("It is **8417**.");
    await t.program.shows("> ");
    t.program.type(CTRL_D);
    const { code, stdout } = await t.program.ended;
    expect(stdout).not.toContain("\u001b");
    expect(code).toBe(0);
  });

  it("offers the tour where there is one", async () => {
    await using folder = await temporaryFolder();
    const program = new Program([], { home: folder.path, cwd: path.join(tour, "../.."), terminal: true });
    await program.shows("Take the tour of examples/tour? [Y/n] ");
    program.type(ENTER);
    await program.shows("Try: What is the port in config.ini?");
    await program.shows("> ");
    program.type(`What is the port in config.ini?${ENTER}`);
    await program.shows("The port is 8417.");
    await program.shows("> ");
    program.type(`/quit${ENTER}`);
    expect((await program.ended).code).toBe(0);
  });
});
