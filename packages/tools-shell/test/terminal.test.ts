import { spawn } from "node:child_process";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { bashTool } from "../src/index.js";
import { NodeTerminal } from "../src/node.js";
import { processesWith, tempFolder, terminalIn, until } from "./helpers.js";

describe("NodeTerminal", () => {
  it("removes its logs when it is ended, and takes no command afterwards", async () => {
    const logFolder = await tempFolder();
    const terminal = await terminalIn({ logFolder });
    const job = await terminal.start("echo hi");
    await job.exited;
    expect((await stat(job.logPath)).mode & 0o777).toBe(0o600);
    expect(await readdir(logFolder)).toHaveLength(1);
    await terminal.dispose();
    expect(await readdir(logFolder)).toEqual([]);
    await expect(terminal.start("echo hi")).rejects.toMatchObject({ kind: "serviceUnavailable" });
    await terminal.dispose();
  });

  it("can be ended while it still reads what a command left", async () => {
    for (let i = 0; i < 20; i++) {
      const logFolder = await tempFolder();
      const terminal = await terminalIn({ logFolder });
      const job = await terminal.start("true", { state: "s" });
      while (job.group.alive()) await new Promise((resolve) => setImmediate(resolve));
      await terminal.dispose();
      expect(await readdir(logFolder)).toEqual([]);
      expect(await job.exited).toMatchObject({ code: 0 });
    }
  });

  it("can be ended while a command is being started, which then does not run on", async () => {
    for (let turns = 0; turns < 40; turns++) {
      const terminal = await terminalIn({});
      const starting = terminal.start("sleep 99002", { state: "s" }).catch((error: unknown) => error);
      for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
      await terminal.dispose();
      const outcome = await starting;
      if (outcome instanceof Error) expect(outcome).toMatchObject({ kind: "serviceUnavailable" });
      expect(await processesWith("sleep 99002")).toEqual([]);
    }
  });

  it("ends a command whose log grows too long", async () => {
    const terminal = await terminalIn({ maxLogBytes: 10_000 });
    const { exited } = await terminal.start("yes; sleep 99001");
    expect(await exited).toMatchObject({ reason: "outputLimit", signal: "SIGTERM", left: false });
    expect(await processesWith("sleep 99001")).toEqual([]);
  });

  it("works with a plain POSIX shell: folder and exported variables stay", async () => {
    const terminal = await terminalIn({ shell: "/bin/sh" });
    const bash = bashTool(terminal);
    const run = async (command: string) => (await bash.call({ command, description: "" })) as { output_text: string };
    await run("mkdir d; cd d; export A='1 2'");
    expect((await run('pwd; echo "$A $PWD"')).output_text).toBe(`${terminal.cwd}/d\n1 2 ${terminal.cwd}/d\n`);
  });

  it("refuses a folder that does not exist", () => {
    expect(() => new NodeTerminal({ cwd: "/no/such/folder" })).toThrow(/"\/no\/such\/folder" does not exist/);
  });

  it("names its folder when that is gone, and goes on once it is there again", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal);
    const run = async (command: string, more: object = {}) =>
      bash.call({ command, description: "", ...more }).catch((error: Error) => error.message);
    await run("X=1");
    await rm(terminal.cwd, { recursive: true });
    expect(await run("echo $X")).toContain(`"${terminal.cwd}", where commands begin, does not exist any more`);
    expect(await run("pwd", { cwd: "/" })).toMatchObject({ output_text: "/\n" });
    await mkdir(terminal.cwd);
    expect(await run("echo $X")).toMatchObject({ output_text: "1\n" });
  });

  it("says when its shell cannot be started", async () => {
    const terminal = await terminalIn({ shell: "/no/such/shell" });
    await expect(terminal.start("true")).rejects.toMatchObject({ kind: "execution" });
  });

  it("leaves nothing behind when its program is killed", async () => {
    const logFolder = await tempFolder();
    const source = fileURLToPath(new URL("../src/node.ts", import.meta.url));
    const program = `
      import { registerHooks } from "node:module";
      registerHooks({
        resolve(name, context, next) {
          return name.startsWith(".") ? next(name.replace(/\\.js$/, ".ts"), context) : next(name, context);
        },
      });
      const { NodeTerminal } = await import(${JSON.stringify(source)});
      const terminal = new NodeTerminal({ logFolder: ${JSON.stringify(logFolder)} });
      const seconds = 9901; // this program's own command line must not look like theirs
      // The second is in a group of its own, the third goes on without its shell.
      await terminal.start("sleep " + seconds + "1 & set -m; sleep " + seconds + "2 & (sleep " + seconds + "3 &); sleep " + seconds + "4");
      console.log("up");
    `;
    const child = spawn(process.execPath, ["--conditions=@shedkit/source", "--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await until(async () => (await processesWith("sleep 9901")).length === 4);
    child.kill("SIGKILL");
    await until(async () => (await processesWith("sleep 9901")).length === 0);
    await until(async () => (await readdir(logFolder)).length === 0);
  });
});
