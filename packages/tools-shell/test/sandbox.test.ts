import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bashTool, taskInputTool, taskOutputTool } from "../src/index.js";
import { NodeTerminal, type NodeTerminalOptions } from "../src/node.js";
import { hosted, processesWith, tempFolder, terminalIn, until } from "./helpers.js";

/** Why no sandbox can be made on this machine; undefined where one can. */
async function missing(): Promise<string | undefined> {
  try {
    await using terminal = new NodeTerminal({ sandbox: {} });
    await (await terminal.start("true")).exited;
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const reason = await missing();
if (reason !== undefined) console.warn(`not tested: commands in a sandbox. ${reason}`);

type Answer = { output_text: string; exit_code: number };

async function sandboxed(options: NodeTerminalOptions = {}) {
  const terminal = await terminalIn({ sandbox: {}, ...options });
  const bash = bashTool(terminal);
  const run = (command: string, more: { cwd?: string } = {}) =>
    bash.call({ command, description: "", ...more }) as Promise<Answer>;
  return { terminal, run };
}

describe.skipIf(reason !== undefined)("a sandbox", () => {
  it("runs commands as ever: exit codes, state, folders, /tmp", async () => {
    const { run, terminal } = await sandboxed();
    expect(await run("mkdir d; cd d; export A=1; f() { echo f$A; }; exit 3")).toMatchObject({ exit_code: 3 });
    expect((await run("pwd; f")).output_text).toBe(`${terminal.cwd}/d\nf1\n`);
    await run("mkdir /tmp/x; cd /tmp/x; echo kept > y");
    expect((await run("pwd; cat y /tmp/x/y")).output_text).toBe("/tmp/x\nkept\nkept\n");
    expect((await run("pwd", { cwd: "/tmp/x" })).output_text).toBe("/tmp/x\n");
    expect((await run("cat y")).exit_code).toBe(0);
  });

  it("lets what runs in the background take input", async () => {
    const { terminal } = await sandboxed();
    const input = { command: "read a; echo got $a", description: "", is_background: true, takes_input: true };
    await bashTool(terminal, { backgroundInput: true }).call(input);
    await taskInputTool(terminal).call({ task_id: "task-1", text: "it" });
    expect(await taskOutputTool(terminal).call({ task_ids: ["task-1"], timeout_ms: 30_000 })).toMatchObject({
      tasks: [{ status: "completed", output_text: "got it\n" }],
    });
  });

  it("writes to its folders only, whatever it tries", async () => {
    const outside = await tempFolder();
    await writeFile(join(outside, "f"), "as it was");
    const { run, terminal } = await sandboxed();
    await symlink(outside, join(terminal.cwd, "link"));
    await run(
      "echo x > in; rm -rf ./link/f; echo x > link/f; echo x > link/g; ln -s / root; echo x > root/etc/shedkit",
    );
    const tricks = [
      `mount -o remount,rw / && echo x > /etc/shedkit`,
      `unshare -Urm sh -c 'mount -o remount,rw,bind / ; mount --bind ${outside} /mnt; echo x > /mnt/f; echo x > ${outside}/f'`,
      `unshare -Urm sh -c 'umount -l ${terminal.cwd}; umount -l /tmp; echo x > ${outside}/f'`,
      `echo x > /proc/1/root${outside}/f; echo x > /proc/self/root${outside}/f`,
      `mknod disk b 8 0; mknod disk b 254 0; dd if=/dev/zero of=disk count=1; chroot / sh -c 'echo x > ${outside}/f'`,
      `nsenter -t 1 -m sh -c 'echo x > ${outside}/f'`,
      `echo x > /etc/shedkit; echo x > /usr/bin/shedkit; echo x > /proc/sys/kernel/core_pattern`,
      `mv ${terminal.cwd} ${terminal.cwd}2; rm -rf ${outside}; chmod 000 ${outside}`,
    ];
    for (const trick of tricks) await run(`{ ${trick} ; } 2>/dev/null`);
    expect(await readdir(outside)).toEqual(["f"]);
    expect(await readFile(join(outside, "f"), "utf8")).toBe("as it was");
    expect(await readFile(join(terminal.cwd, "in"), "utf8")).toBe("x\n");
    await expect(readFile("/etc/shedkit")).rejects.toThrow();
  });

  it("writes where it is told that it may, and sees what is hidden as empty", async () => {
    const [other, secret] = [await tempFolder(), await tempFolder()];
    await writeFile(join(secret, "key"), "secret");
    await writeFile(join(other, "token"), "secret");
    const { run } = await sandboxed({
      sandbox: { writable: [other], hidden: [secret, join(other, "token"), "/no/such"] },
    });
    expect((await run("echo x > here")).exit_code).not.toBe(0);
    expect((await run(`echo x > ${other}/f; cat ${other}/token 2>/dev/null; ls ${secret}`)).output_text).toBe("");
    expect((await run(`echo x > ${secret}/g; umount ${secret}; cat ${secret}/key`)).output_text).not.toContain(
      "secret",
    );
    expect(await readdir(other)).toEqual(["f", "token"]);
    expect(await readFile(join(other, "token"), "utf8")).toBe("secret");
  });

  it("has no network, and nobody to talk to through sockets, unless it is given one", async () => {
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    expect((await (await sandboxed()).run(ask)).output_text).not.toContain("reached");
    expect((await (await sandboxed()).run("ls -A /run")).output_text).toBe("");
    expect((await (await sandboxed({ sandbox: { network: true } })).run(ask)).output_text).toContain("reached");
  });

  it("sees and ends no processes but its own", async () => {
    const { run } = await sandboxed();
    const found = await run(`kill -9 ${process.pid}; ls -d /proc/[0-9]* | wc -l`);
    expect(Number(found.output_text.trim().split("\n").at(-1))).toBeLessThan(10);
  });

  it("is ended with all that it started, what left its session too", async () => {
    const { terminal } = await sandboxed();
    const bash = bashTool(terminal);
    const stop = new AbortController();
    const command = "setsid sleep 98001 & (setsid sleep 98002 &) ; trap '' TERM; sleep 98003; sleep 98004";
    const call = hosted(bash, { command, description: "" }, { signal: stop.signal });
    await until(async () => (await processesWith("sleep 9800")).length >= 3);
    stop.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await until(async () => (await processesWith("sleep 9800")).length === 0);
  });

  it("is not held up by what a command leaves in place of its state", async () => {
    const { run } = await sandboxed();
    await run("export A=1");
    const swap = (what: string) =>
      `trap '' EXIT; cd $(dirname $(ls -d /tmp/shedkit-terminal-*/left-*/. | tail -1))/. && { ${what}; }; ls -l`;
    for (const what of ["mkfifo state", "ln -s /etc/passwd state", "cp /dev/null state"]) {
      expect((await run(swap(what))).output_text).toMatch(/[pl-]rw.*state/);
      expect((await run("echo $A")).output_text).toBe("1\n");
    }
  });
});

describe("a sandbox that cannot be made", () => {
  it("is an error, never a command without one", async () => {
    const cwd = await tempFolder();
    const make = () => new NodeTerminal({ cwd, sandbox: { writable: ["no/such"] } });
    expect(make).toThrow(/to be writable does not exist|needs Linux and bubblewrap/);
  });
});
