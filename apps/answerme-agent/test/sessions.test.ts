import { mkdir } from "node:fs/promises";
import path from "node:path";
import { Gate, ScriptedServer, type ServerAnswer, type ServerScript } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { Program, run, temporaryFolder, tour } from "./program.js";

/** A person with a home of their own, and a model server that answers like this. */
async function person(script: readonly ServerAnswer[] | ServerScript) {
  const folder = await temporaryFolder();
  const server = await ScriptedServer.start(script);
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, ANSWERME_MODEL: "openai:scripted" };
  return {
    home: folder.path,
    server,
    start: (args: readonly string[]) => new Program(["--root", tour, ...args], { home: folder.path, env }),
    run: (args: readonly string[], more = {}) =>
      run(["--root", tour, ...args], { home: folder.path, env: { ...env, ...more } }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const said = (body: unknown) => JSON.stringify(body);

describe("sessions", () => {
  it("are kept, listed, searched, gone on with and deleted", async () => {
    await using p = await person([
      { answer: "Hello." },
      { answer: "Yes?" },
      { answer: "You said hi." },
      { answer: "Hi." },
    ]);
    await p.run(["Hi there"]);
    await p.run(["Something about the harbour"]);
    const all = (await p.run(["sessions"])).stdout.trimEnd().split("\n");
    expect(all).toHaveLength(2);
    expect(all[0]).toMatch(/^[0-9a-z]{26} {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}Something about the harbour {3}\/.*tour$/);
    expect((await p.run(["sessions", "there"])).stdout.trimEnd()).toBe(all[1]);
    const id = all[1]?.split(" ", 1)[0] ?? "";

    const resumed = await p.run(["--resume", id, "What did I say?"]);
    expect(resumed.stderr).toContain('Going on with "Hi there".');
    expect(said(p.server.requests[2]?.body)).toMatch(/Hi there.*Hello\..*What did I say\?/);
    await p.run(["--continue", "And now?"]);
    expect(said(p.server.requests[3]?.body)).toMatch(/Hi there.*You said hi\..*And now\?/);

    expect((await p.run(["sessions", "delete", id])).stdout).toContain("Deleted");
    expect((await p.run(["sessions"])).stdout.trimEnd()).toBe(all[0]);
  });

  it("of sub-agents stand in no list, unless all are wanted", async () => {
    const asked = new Gate();
    const parent: ServerAnswer[] = [
      { answer: [{ call: "shed", arguments: { description: "agent" } }] },
      { answer: [{ call: "agent", arguments: { command: "start", task: "Look at it" } }] },
      { answer: ["Done", { wait: asked }, "."] },
    ];
    await using p = await person((request) => {
      const isChild = said(request.body).match(/Look at it/g)?.length === 1 && !said(request.body).includes("Use an");
      if (!isChild) return parent.shift() ?? { answer: "No more." };
      asked.open();
      return { answer: "I looked." };
    });
    const { code, stderr } = await p.run(["--yes", "Use an agent"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect((await p.run(["sessions"])).stdout.trimEnd().split("\n")).toHaveLength(1);
    const all = (await p.run(["sessions", "--all"])).stdout;
    expect(all).toContain("Look at it");
    expect(all.trimEnd().split("\n")).toHaveLength(2);
  });

  it("are chosen from a list by --resume alone, where somebody can be asked", async () => {
    await using p = await person([{ answer: "One." }]);
    await p.run(["First"]);
    const { code, stderr } = await p.run(["--resume", "What did I say?"]);
    expect(stderr).toContain("answerme-agent: --resume needs the id of a session here; answerme-agent sessions lists");
    expect(code).toBe(2);
  });

  it("outlive a kill in the middle of an answer", async () => {
    const gate = new Gate();
    const read = { call: "read", arguments: { path: "config.ini" } };
    await using p = await person([
      { answer: [{ call: "shed", arguments: { description: "read a file" } }] },
      { answer: [read] },
      { answer: ["The port", { wait: gate }] },
      { answer: "The port is 8417." },
    ]);
    const program = p.start(["What is the port?"]);
    await program.says("The port", "stdout");
    program.child.kill("SIGKILL");
    await program.ended;
    const { code, stdout } = await p.run(["--continue", "Go on"]);
    expect(stdout).toBe("The port is 8417.\n");
    expect(said(p.server.requests.at(-1)?.body)).toMatch(/What is the port\?.*port=8417.*Go on/);
    expect(code).toBe(0);
  });

  it("have one program at a time: the second is told", async () => {
    const gate = new Gate();
    await using p = await person([{ answer: "Hello." }, { answer: ["Wait", { wait: gate }] }]);
    await p.run(["Hi"]);
    const first = p.start(["--continue", "Wait"]);
    await first.says("Wait", "stdout");
    const second = await p.run(["--continue", "Me too"]);
    expect(second.stderr).toMatch(/answerme-agent: Session [0-9a-z]{26} is busy/);
    expect(second.stderr).not.toMatch(/^\s+at /m);
    expect(second.code).toBe(1);
    gate.open();
    expect((await first.ended).code).toBe(0);
  });

  it("are not kept with --no-keep", async () => {
    await using p = await person([{ answer: "Hello." }]);
    await p.run(["--no-keep", "Hi"]);
    expect((await p.run(["sessions"])).stdout).toBe("No session was kept yet.\n");
    const { code, stderr } = await p.run(["--no-keep", "--continue", "Hi"]);
    expect(stderr).toContain("answerme-agent: --continue needs sessions that are kept");
    expect(code).toBe(2);
  });

  it("that are not there are said to be missing", async () => {
    await using p = await person([]);
    const continued = await p.run(["--continue", "Hi"]);
    expect(continued.stderr).toMatch(/answerme-agent: --continue: no session about .*tour was kept yet\n$/);
    expect(continued.code).toBe(2);
    const resumed = await p.run(["--resume", "01zz", "Hi"]);
    expect(resumed.stderr).toMatch(
      /answerme-agent: no session begins with "01zz"; answerme-agent sessions lists them\n$/,
    );
    expect(resumed.code).toBe(2);
  });

  it("that cannot be kept stop no answer", async () => {
    await using p = await person([{ answer: "Hello." }]);
    const file = path.join(p.home, ".local/share/answerme/sessions.db");
    await mkdir(file, { recursive: true });
    const { code, stdout, stderr } = await p.run(["Hi"]);
    expect(stdout).toBe("Hello.\n");
    expect(stderr).toContain(`This session is not kept: the sessions in ${file} cannot be opened:`);
    expect(code).toBe(0);
  });

  it("are named to programs", async () => {
    await using p = await person([{ answer: "Hello." }]);
    const { stdout } = await p.run(["--json", "Hi"]);
    const [start, session] = stdout.split("\n").map((line) => (line === "" ? undefined : JSON.parse(line)));
    expect(start).toMatchObject({ type: "start" });
    expect(session).toMatchObject({ type: "session", id: expect.stringMatching(/^[0-9a-z]{26}$/) });
  });
});
