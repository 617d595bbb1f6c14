import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { callTool, Resources, ToolError, type ToolImpl } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { bashTool, shellTools, type Terminal, terminalResource } from "../src/index.js";
import { hosted, keptIn, processesWith, tempFolder, terminalIn, until } from "./helpers.js";

const args = (command: string, more: object = {}) => ({ command, description: "a test", ...more });
const said = async (tool: ToolImpl, command: string, more: object = {}) =>
  (await callTool(tool, args(command, more))).text;
const refused = async (tool: ToolImpl, input: object): Promise<ToolError> => {
  const error = await callTool(tool, input).then(
    (result) => result.text,
    (e: unknown) => e,
  );
  if (!(error instanceof ToolError)) throw new Error(`was not refused: ${error}`);
  return error;
};

describe("bash", () => {
  it("gives the exit code and what was written, errors too, in the order in which they came", async () => {
    const bash = bashTool(await terminalIn());
    expect(await said(bash, "echo hi")).toBe("exit: 0\nhi");
    expect(await said(bash, "exit 3")).toBe("exit: 3\n(no output)");
    expect(await said(bash, "echo a; echo b >&2; echo c")).toBe("exit: 0\na\nb\nc");
    expect(await said(bash, "nosuchcommand")).toMatch(/^exit: 127\n.*line 1: nosuchcommand: command not found/);
    expect(await bash.call(args("printf x; exit 1"))).toEqual({
      type: "foreground",
      output_text: "x",
      exit_code: 1,
      truncated: false,
    });
  });

  it("says when a signal ended it", async () => {
    const bash = bashTool(await terminalIn());
    expect(await said(bash, "kill -KILL $$")).toBe("exit: killed: SIGKILL\n(no output)".slice(6));
    expect(await bash.call(args("kill -KILL $$"))).toMatchObject({ exit_code: -1, signal: "SIGKILL" });
  });

  it("has an empty standard input", async () => {
    expect(await said(bashTool(await terminalIn()), "cat; echo done")).toBe("exit: 0\ndone");
  });

  it("keeps folder, variables, functions and aliases for the next command, options not", async () => {
    const terminal = await terminalIn();
    await mkdir(join(terminal.cwd, "sub"));
    const bash = bashTool(terminal);
    await said(bash, "cd sub; export A='x y'; B=$'two\\nlines'; f() { echo \"f $1\"; }; alias g='echo alias'; set -eu");
    expect(await said(bash, 'pwd; echo "$A|$B"; f 1; g; false; echo on; echo "[$#]"')).toBe(
      `exit: 0\n${terminal.cwd}/sub\nx y|two\nlines\nf 1\nalias\non\n[0]`,
    );
    await said(bash, "C=3; cd ..; exit 4");
    expect(await said(bash, "pwd; echo $C $A")).toBe(`exit: 0\n${terminal.cwd}\n3 x y`);
  });

  it("keeps what was before where a command replaced the shell or was killed", async () => {
    const bash = bashTool(await terminalIn());
    await said(bash, "X=1");
    await said(bash, "X=2; exec true");
    await said(bash, "X=3; kill -KILL $$");
    expect(await said(bash, "echo $X")).toBe("exit: 0\n1");
  });

  it("runs in a folder that is named, for that command alone", async () => {
    const terminal = await terminalIn();
    await mkdir(join(terminal.cwd, "sub"));
    const bash = bashTool(terminal);
    expect(await said(bash, "pwd", { cwd: "sub" })).toBe(`exit: 0\n${terminal.cwd}/sub`);
    expect(await said(bash, "pwd; echo $PWD")).toBe(`exit: 0\n${terminal.cwd}\n${terminal.cwd}`);
    const error = await refused(bash, args("pwd", { cwd: "nope" }));
    expect([error.kind, error.message]).toEqual(["notFound", `There is no folder "${terminal.cwd}/nope" to run in.`]);
  });

  it("goes on in the first folder when its own is gone, and says so", async () => {
    const terminal = await terminalIn();
    await mkdir(join(terminal.cwd, "sub"));
    const bash = bashTool(terminal);
    await said(bash, "cd sub");
    await rm(join(terminal.cwd, "sub"), { recursive: true });
    expect(await said(bash, "pwd")).toBe(
      `exit: 0\n${terminal.cwd}\n[The folder ${terminal.cwd}/sub does not exist any more: the command ran in the first one.]`,
    );
  });

  it("gives sessions shells of their own", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal);
    const run = (command: string, sessionId: string, resources: Resources) =>
      hosted(bash, args(command), { sessionId, resources });
    const [a, b] = [new Resources(), new Resources()];
    await run("X=a", "a", a);
    await run("X=b", "b", b);
    expect((await run("echo $X", "a", a)).text).toBe("exit: 0\na");
    expect((await run("echo $X", "b", b)).text).toBe("exit: 0\nb");
  });

  it("hides secrets, unless they are to be seen", async () => {
    const env = {
      PATH: process.env.PATH,
      OPENAI_API_KEY: "s1",
      npm_token: "s2",
      DATABASE_URL: "postgres://user:s3@host/db",
      HOME_PAGE: "https://example.com/a:b@c",
      "BASH_FUNC_ls%%": "() { echo evil; }",
      MY_PASSWORD: "kept",
    };
    const shown = await said(bashTool(await terminalIn({ env, keepVariables: ["MY_PASSWORD"] })), "env; type -t ls");
    expect(shown).not.toMatch(/s1|s2|s3|evil|SHEDKIT_COMMAND/);
    expect(shown).toContain("MY_PASSWORD=kept");
    expect(shown).toContain("HOME_PAGE=");
    expect(shown).toContain("GIT_PAGER=cat");
  });

  it("shows head and tail of a long output, and keeps the whole", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal, { maxOutputChars: 1000 });
    const resources = new Resources();
    const kept = keptIn(resources);
    const { text, result } = await hosted(bash, args("seq 1 20000"), { resources });
    expect(text.length).toBeLessThan(1300);
    expect(text).toMatch(/^exit: 0\n1\n2\n/);
    expect(text).toMatch(/\n19999\n20000$/);
    expect(text).toContain('[... output left out here: it has 108,894 bytes. The whole is kept as "result:call"');
    expect(result.output).toMatchObject({ truncated: true });
    expect(kept.get("result:call")?.split("\n").length).toBe(20_001);
    const alone = await said(bash, "seq 1 20000");
    const log = /The whole is in (\S+\.log), of which bash/.exec(alone)?.[1];
    expect(await said(bash, `wc -l < ${log}`)).toBe("exit: 0\n20000");
  });

  it("says by which tools the rest of a long output is shown, by the names that the client has", async () => {
    const bash = bashTool(await terminalIn(), { maxOutputChars: 1000 });
    const tools = { read: "open_file", execute: "run_it" };
    const unkept = await hosted(bash, args("seq 1 20000"), { tools });
    expect(unkept.text).toMatch(
      / The whole is in \S+\.log, of which run_it can show parts \(grep, sed -n\)\. \.\.\.\]/,
    );
    const resources = new Resources();
    keptIn(resources);
    const kept = await hosted(bash, args("seq 1 20000"), { tools, resources });
    expect(kept.text).toContain(
      'The whole is kept as "result:call", which can be read like a file by open_file (my_path). ...]',
    );
  });

  it("counts characters, and cuts none in half", async () => {
    const bash = bashTool(await terminalIn(), { maxOutputChars: 200 });
    expect(await said(bash, "printf 'ä%.0s' $(seq 200)")).toBe(`exit: 0\n${"ä".repeat(200)}`);
    const text = await said(bash, "printf '😀%.0s' $(seq 5000)");
    expect(text).not.toContain("\ufffd");
    expect(text).not.toMatch(/\p{Surrogate}/u);
  });

  it("cleans what was written of colours and control characters", async () => {
    const bash = bashTool(await terminalIn());
    expect(
      await said(
        bash,
        "printf '\\033[1;31mred\\033[0m\\033]0;title\\007 10%%\\r100%%\\r\\nb\\000\\007c\\342\\200\\256d'",
      ),
    ).toBe("exit: 0\n100%\nbcd");
  });

  it("ends a command that takes too long with all that it started, and says what it wrote", async () => {
    const bash = bashTool(await terminalIn());
    const command = "echo begun; sleep 98761 & (sleep 98762; true) | cat; sleep 98763";
    const error = await refused(bash, args(command, { timeout: 300 }));
    expect(error.kind).toBe("timeout");
    expect(error.retryable).toBe(false);
    expect(error.message).toMatch(/^killed: timeout\. It took longer than 0\.3 s .* Give it more with timeout/);
    expect(error.message).toMatch(/\nbegun$/);
    expect(await processesWith("sleep 9876")).toEqual([]);
  });

  it("forces what does not want to end, and reaches groups of its own", async () => {
    const bash = bashTool(await terminalIn());
    const error = await refused(bash, args("trap '' TERM; set -m; sleep 98771 & sleep 98772", { timeout: 300 }));
    expect(error.kind).toBe("timeout");
    expect(await processesWith("sleep 9877")).toEqual([]);
  });

  it("takes no more time than the settings allow", async () => {
    const bash = bashTool(await terminalIn(), { maxTimeoutMs: 200 });
    const error = await refused(bash, args("sleep 98781", { timeout: 60_000 }));
    expect(error.message).toMatch(/longer than 0\.2 s .* Do less in one command, or set is_background/);
    expect((await refused(bashTool(await terminalIn(), { maxTimeoutMs: 0.4 }), args("sleep 98782"))).kind).toBe(
      "timeout",
    );
  });

  it("returns when the command ends, though something it started still holds its output", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal);
    const began = performance.now();
    const text = await said(bash, "sleep 98791 & echo hi");
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(text).toBe("exit: 0\nhi\n[Something that it started still runs in the background, until the session ends.]");
    await until(async () => (await processesWith("sleep 98791")).length === 1);
    await terminal.dispose();
    expect(await processesWith("sleep 98791")).toEqual([]);
  });

  it("does not run out of time once the command has ended, while what it left has a moment to end too", async () => {
    const real = await terminalIn({ graceMs: 500 });
    const start: Terminal["start"] = async (command, options) => {
      const job = await real.start(command, options);
      await job.ended;
      return job;
    };
    const bash = bashTool({ cwd: real.cwd, shell: real.shell, start });
    const left = "exit: 3\nhi\n[Something that it started still runs in the background, until the session ends.]";
    expect(await said(bash, "sleep 98792 & echo hi; exit 3", { timeout: 1 })).toBe(left);
    const going = bashTool({ cwd: real.cwd, shell: real.shell, start }, { backgroundOnTimeout: true });
    expect(await said(going, "sleep 98793 & echo hi; exit 3", { timeout: 1 })).toBe(left);

    const told: [string, JsonValue | undefined][] = [];
    await hosted(bash, args("sleep 98794 & exit 3", { timeout: 1, is_background: true }), { told });
    await until(async () => told.length > 0);
    expect(told).toEqual([["execution_complete", expect.objectContaining({ status: "completed", exitCode: 3 })]]);
  });

  it("ends a command at once when the call is cancelled", async () => {
    const bash = bashTool(await terminalIn());
    const controller = new AbortController();
    const call = callTool(bash, args("echo up; sleep 98801 & sleep 98802"), {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await until(async () => (await processesWith("sleep 9880")).length === 0);
    const before = AbortSignal.abort();
    await expect(callTool(bash, args("sleep 98803"), { signal: before })).rejects.toMatchObject({ kind: "cancelled" });
    expect(await processesWith("sleep 98803")).toEqual([]);
  });

  it("is ended when nobody reads on", async () => {
    const bash = bashTool(await terminalIn());
    const events = bash.execute(args("echo up; sleep 98811"), {
      callId: "c",
      signal: new AbortController().signal,
      resources: new Resources(),
      names: { tool: "bash", param: (name) => name, toolOf: () => undefined, paramOf: () => undefined },
      notify: () => {},
    });
    if (!(Symbol.asyncIterator in events)) throw new Error("no events");
    for await (const event of events) if (event.type === "progress") break;
    await until(async () => (await processesWith("sleep 98811")).length === 0);
  });

  it("passes on what is written while it runs, each piece once", async () => {
    const bash = bashTool(await terminalIn());
    const pieces: string[] = [];
    const { text } = await hosted(bash, args("for i in 1 2 3; do echo ä$i; sleep 0.15; done; printf end"), {
      onProgress: (progress) => pieces.push(progress.text ?? ""),
    });
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("ä1\nä2\nä3\nend");
    expect(text).toBe("exit: 0\nä1\nä2\nä3\nend");
  });

  it("skips in the pieces what comes too fast, and says how much", async () => {
    const { progress } = await hosted(bashTool(await terminalIn()), args("head -c 1000000 /dev/zero | tr '\\0' x"));
    expect(Math.max(...progress.map(({ text = "" }) => text.length))).toBeLessThanOrEqual(16 * 1024);
    const gaps = progress.reduce((sum, { data }) => sum + ((data as { gap?: number } | undefined)?.gap ?? 0), 0);
    expect(gaps + progress.reduce((sum, { text = "" }) => sum + text.length, 0)).toBe(1_000_000);
  });

  it("keeps the logs of the last hundred commands of a session", async () => {
    const logFolder = await tempFolder();
    const terminal = await terminalIn({ logFolder });
    const resources = new Resources();
    const bash = bashTool(terminal);
    for (let i = 0; i < 105; i += 15)
      await Promise.all(Array.from({ length: 15 }, () => hosted(bash, args(":"), { resources, sessionId: "s" })));
    const [own = ""] = await readdir(logFolder);
    const logs = async () => (await readdir(join(logFolder, own))).filter((name) => name.endsWith(".log")).length;
    await until(async () => (await logs()) === 100);
    await hosted(bash, args("sleep 98825 & :"), { resources, sessionId: "s" }); // what goes on writing has its log
    expect(await logs()).toBe(101);
    await resources.dispose();
    expect(await logs()).toBe(0);
  });

  it("tells its host how it ended", async () => {
    const bash = bashTool(await terminalIn());
    expect((await hosted(bash, args("exit 2"))).told).toEqual([
      ["execution_complete", { callId: "call", exitCode: 2 }],
    ]);
    const told: [string, unknown][] = [];
    await expect(hosted(bash, args("sleep 98821", { timeout: 50 }), { told: told as never })).rejects.toThrow();
    expect(told).toEqual([["execution_timeout", { callId: "call", exitCode: -1, signal: "SIGTERM" }]]);
    told.length = 0;
    await expect(hosted(bash, args("true", { cwd: "nope" }), { told: told as never })).rejects.toThrow();
    expect(told).toMatchObject([["execution_failed", { callId: "call", command: "true" }]]);
  });

  it("takes the session's terminal, and says so where there is none", async () => {
    const resources = new Resources();
    await expect(hosted(bashTool(), args("true"), { resources })).rejects.toMatchObject({ kind: "serviceUnavailable" });
    resources.insert(terminalResource, await terminalIn());
    expect((await hosted(bashTool(), args("echo hi"), { resources })).text).toBe("exit: 0\nhi");
  });

  it("refuses what cannot be run", async () => {
    const bash = bashTool(await terminalIn());
    for (const command of ["", "  \n", "a\0b", `echo ${"x".repeat(100_001)}`]) {
      expect((await refused(bash, args(command))).kind).toBe("invalidArguments");
    }
  });

  it("offers no background where it is switched off", async () => {
    const terminal = await terminalIn();
    const [bash, ...others] = shellTools(terminal, { bash: { enabledBackground: false } });
    if (!bash || others.length > 0) throw new Error("other tools than bash");
    expect(JSON.stringify(bash.definition())).not.toContain("background");
    const call = hosted(bash, args("sleep 98831 & echo hi"));
    await expect(call).rejects.toMatchObject({ kind: "invalidArguments" });
    expect((await hosted(bash, args("sleep 0.01 & wait"))).text).toBe("exit: 0\n(no output)");
    const asked = hosted(bash, args("true", { is_background: true }), { rename: { is_background: "bg" } });
    await expect(asked).rejects.toThrow(/^bg is not offered here/);
  });

  it("does not find itself by its command line", async () => {
    expect(await said(bashTool(await terminalIn()), "pkill -f sleep.98841; echo $?")).toBe("exit: 0\n1");
  });

  it("asks for each command that it will run, and each file that it will write", async () => {
    const access = (command: string) => bashTool({} as Terminal).metadata.access?.(args(command));
    expect(access("git status && npm test > out.txt 2>&1")).toEqual([
      { action: "execute", target: "git status", detail: { reads: [], onlyReads: true } },
      { action: "execute", target: "npm test", detail: { words: [{ path: "test", at: 1, isName: true }] } },
      { action: "write", target: "out.txt" },
    ]);
    expect(bashTool({} as Terminal).metadata.access?.(args("a > passwd", { cwd: "/etc" }))).toEqual([
      { action: "execute", target: "cd /etc", detail: { reads: ["/etc"], onlyReads: true } },
      { action: "execute", target: "a" },
      { action: "write", target: "/etc/passwd" },
    ]);
    expect(access("git status; $X")).toEqual([
      { action: "execute", target: "unknown: git status; $X", detail: { reason: "a variable or substitution" } },
    ]);
  });
});
