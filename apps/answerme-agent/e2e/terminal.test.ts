import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Gate, ScriptedServer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { canMakeTerminals, Program, run, temporaryFolder } from "../test/program.js";

const ENTER = "\r";
const CTRL_D = "\u0004";

if (!canMakeTerminals) console.log("Skipped: a pseudo-terminal is made by the script command of util-linux.");

describe.skipIf(!canMakeTerminals)("a session in a terminal", () => {
  it("goes through a task, is killed in the middle, and on with --continue; a second program is told meanwhile", async () => {
    await using folder = await temporaryFolder();
    const home = folder.path;
    const root = path.join(home, "project");
    await mkdir(root);
    const file = path.join(root, "config.ini");
    await writeFile(file, "[server]\nport = 8080\n");
    const edit = { path: "config.ini", old_string: "port = 8080", new_string: "port = 9090" };
    const list = { command: "touch seen.txt", description: "Leaves a mark" };
    const never = new Gate();
    const model = await ScriptedServer.start([
      { answer: [{ call: "shed", arguments: { description: "edit a file, run a command" } }] },
      { answer: [{ call: "read", arguments: { path: "config.ini" } }] },
      { answer: [{ call: "edit", arguments: edit }] },
      { answer: [{ call: "bash", arguments: list }] },
      { answer: "The port is **9090**." },
      { answer: ["I am about to", { wait: never }] },
      { answer: "It was 8080, before I changed it." },
    ]);
    const env = {
      OPENAI_BASE_URL: `${model.url}/v1`,
      ANSWERME_MODEL: "openai:scripted",
      TERM: "xterm-256color",
      NO_COLOR: undefined,
    };
    const args = ["--root", root];

    const first = new Program(args, { home, env, terminal: true });
    await first.shows("> ");
    first.type(`Set the port to 9090${ENTER}`);
    await first.shows("- port = 8080");
    await first.shows("+ port = 9090");
    await first.shows("Allow this?");
    expect(await readFile(file, "utf8")).toContain("8080"); // not before it is allowed
    first.type(`y${ENTER}`);
    await first.shows('[a]lways "touch seen.txt" in this session');
    first.type(`a${ENTER}`);
    await first.shows("The port is 9090.");
    expect(await readFile(file, "utf8")).toBe("[server]\nport = 9090\n");
    await first.shows("> ");
    first.type(`What was it before?${ENTER}`);
    await first.shows("I am about to");

    const second = await run([...args, "--continue", "Hi"], { home, env });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("busy");

    process.kill(await childOf(first.child.pid as number), "SIGKILL");
    await first.ended;

    const third = new Program([...args, "--continue"], { home, env, terminal: true });
    await third.shows('Going on with "Set the port to 9090"');
    await third.shows("> ");
    third.type(`/calls${ENTER}`);
    await third.shows("1  bash(");
    await third.shows("> ");
    third.type(`I ask again${ENTER}`);
    await third.shows("It was 8080, before I changed it.");
    await third.shows("> ");
    third.type(CTRL_D);
    expect((await third.ended).code).toBe(0);
    const last = JSON.stringify(model.requests.at(-1)?.body);
    for (const said of ["Set the port to 9090", "What was it before?", "I ask again"]) expect(last).toContain(said);
    never.open();
    await model.close();
  });
});

/** The process that a process has started, on Linux. */
async function childOf(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return Number(children.trim().split(" ")[0]);
}
