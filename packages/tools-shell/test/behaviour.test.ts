// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the shell that fills them in
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { callTool, Resources, ToolError, type ToolImpl } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { hasAmpersand } from "../src/ampersand.js";
import { bashTool, shellTools, taskKillTool, taskOutputTool, terminalResource } from "../src/index.js";
import { NodeTerminal } from "../src/node.js";
import { hosted, processesWith, tempFolder, terminalIn, until } from "./helpers.js";

const args = (command: string, more: object = {}) => ({ command, description: "x", ...more });
const said = async (tool: ToolImpl, input: object): Promise<string> => (await callTool(tool, input)).text;
const refusal = async (call: Promise<unknown>): Promise<ToolError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolError)) throw new Error(`was not refused: ${String(error)}`);
  return error;
};

describe("what a command gives", () => {
  it.each([
    ["echo hi", "exit: 0\nhi"],
    ["exit 3", "exit: 3\n(no output)"],
    ["echo out; echo err >&2", "exit: 0\nout\nerr"],
    ["printf 'a\\nb'", "exit: 0\na\nb"],
    ["cat", "exit: 0\n(no output)"],
    ["(exit 7); echo $?", "exit: 0\n7"],
    ["printf 'x\\033[31my\\033[0m\\007z'", "exit: 0\nxyz"],
    ["printf '\\377\\376ok'", "exit: 0\n\ufffd\ufffdok"],
  ])("%j -> %j", async (command, expected) => {
    expect(await said(bashTool(await terminalIn()), args(command))).toBe(expected);
  });

  it.each(["bash", "/bin/sh"])("is that of a command whose name begins with a dash, in %s", async (shell) => {
    const text = await said(bashTool(await terminalIn({ shell })), args("-x; echo $?"));
    expect(text).toMatch(/^exit: 0\n.*-x: (?:command )?not found\n127$/);
  });

  it("is what was written until its time was up", async () => {
    const call = callTool(bashTool(await terminalIn()), args("echo begun; sleep 98001", { timeout: 300 }));
    const error = await refusal(call);
    expect(error).toMatchObject({ kind: "timeout" });
    expect(error.message).toMatch(/^killed: timeout\..*\nUntil then it wrote:\nbegun$/s);
    expect(await processesWith("sleep 98001")).toEqual([]);
  });

  it("comes though something it started holds its output", async () => {
    const text = await said(bashTool(await terminalIn()), args("sleep 98002 & echo done"));
    expect(text).toMatch(/^exit: 0\ndone\n\[Something that it started still runs/);
  });

  it("does not show the values of variables that commands are not to see", async () => {
    const env = { PATH: process.env.PATH, API_KEY: "sk-0123456789abcdef", LONG_TOKEN: "sk-0123456789abcdef-more" };
    const terminal = await terminalIn({ env });
    const command = "printf 'sk-0123456'; sleep 0.2; printf '789abcdef and sk-0123456789abcdef-more\\nsk-01'";
    const { text, progress } = await hosted(bashTool(terminal), args(command));
    expect(text).toBe("exit: 0\n[hidden] and [hidden]\nsk-01");
    expect(progress.map((one) => one.text).join("")).toBe("[hidden] and [hidden]\nsk-01");
    await said(bashTool(terminal), args("echo sk-0123456789abcdef", { is_background: true }));
    expect(await said(taskOutputTool(terminal), { task_ids: ["task-1"], timeout_ms: 30_000 })).toContain("\n[hidden]");
  });
});

describe("arguments", () => {
  it.each([
    [{ timeout: "120000" }, true],
    [{ timeout: 120000.0 }, true],
    [{ timeout: null }, true],
    [{ timeout: "soon" }, false],
    [{ timeout: true }, false],
    [{ timeout: -1 }, false],
    [{ is_background: "false" }, true],
    [{ is_background: "no" }, true],
    [{ is_background: 0 }, true],
    [{ is_background: null }, true],
    [{ is_background: "perhaps" }, false],
    [{ is_background: 2 }, false],
    [{ command: "  " }, false],
    [{ cwd: "" }, true],
  ])("%j", async (more, taken) => {
    const call = callTool(bashTool(await terminalIn()), args("true", more));
    if (taken) expect((await call).text).toBe("exit: 0\n(no output)");
    else expect((await refusal(call)).kind).toBe("invalidArguments");
  });

  it("say how long a command may take: the default and the most, both as the settings have it", async () => {
    const shown = (maxTimeoutMs?: number) => {
      const { definition } = bashTool(undefined, maxTimeoutMs === undefined ? {} : { maxTimeoutMs }).definition() as {
        definition: { description: string; arguments: { properties: { timeout: { description: string } } } };
      };
      return [
        /at most (\S+) ms/.exec(definition.description)?.[1],
        /Default: (\S+)\./.exec(definition.arguments.properties.timeout.description)?.[1],
      ];
    };
    expect(shown()).toEqual(["300000", "120000"]);
    expect(shown(1000)).toEqual(["1000", "1000"]);
    expect(shown(0.4)).toEqual(["1", "1"]);
    const call = callTool(
      bashTool(await terminalIn(), { maxTimeoutMs: 0.4 }),
      args("sleep 98003", { timeout: 60_000 }),
    );
    expect((await refusal(call)).message).toContain("killed: timeout. It took longer than 0.001 s");
    const short = callTool(bashTool(await terminalIn()), args("sleep 98003", { timeout: 1e-7 }));
    expect((await refusal(short)).message).toContain("killed: timeout. It took longer than 0.001 s");
  });
});

describe("an ampersand", () => {
  it.each([
    ["a & b", true],
    ["(a &)", true],
    ["a && b &", true],
    ["x > f &", true],
    ["cat <<E\nbody\nE\nsleep 5 &", true],
    ["cat <<E & \nbody\nE", true],
    ["a & await", true],
    ["sleep $N &", true],
    ['echo "$(sleep 5 &)"', true],
    ["echo `sleep 5 &`", true],
    ["if a; then b & fi", true],
    ["a & # wait", true],
    ["a & # x; wait", true],
    ["a & cat <<E\n;wait\nE", true],
    ["a &\ncat <<E\nwait", true],
    ["a & cat <<E\nbody\nE\nwait", false],
    ["a & # x\nwait # all", false],
    ["a & wait # b & c", false],
    ['a & wait "$!"', false],
    ["a & wait", false],
    ["a & b & wait $!", false],
    ["a && b", false],
    ["a &> f", false],
    ["a &>> f", false],
    ["a 2>&1", false],
    ["a <&3", false],
    ["a |& b", false],
    ["echo 'a & b'", false],
    ['echo "a & b"', false],
    ["echo a \\& b", false],
    ["echo $'a\\' & b'", false],
    ["cat <<E\na & b\nE", false],
    ["cat <<-'E'\n\ta & b\n\tE", false],
    ["echo $((1 & 2))", false],
    ["echo ${a//x/&}", false],
    ["case a in a) b ;;& *) c ;& esac", false],
    ["a # b & c", false],
    ["cat <<< '&'", false],
    ["", false],
    ["'", false],
    ["<<", false],
  ])("in %j puts something into the background: %j", (command, expected) => {
    expect(hasAmpersand(command)).toBe(expected);
  });

  it("is refused where it is not to be used, with what to do instead, by the names that the client has", async () => {
    const terminal = await terminalIn();
    const call = (params: object, rename = {}) =>
      hosted(bashTool(terminal, params), args("sleep 5 &"), { rename }).then(
        () => "",
        (error: Error) => error.message,
      );
    expect(await call({ backgroundOperator: false }, { is_background: "detach" })).toContain("set detach to true");
    const without = await call({ enabledBackground: false });
    expect(without).toContain("Leave out the &");
    expect(without).not.toContain("is_background");
    expect(await said(bashTool(terminal), args("true &"))).toContain("exit: 0");
    expect(await said(bashTool(terminal, { backgroundOperator: false }), args("true & wait"))).toContain("exit: 0");
    expect(
      await said(bashTool(terminal, { backgroundOperator: false }), args("true &", { is_background: true })),
    ).toContain("as task-1");
  });

  it("takes time in proportion to the text", () => {
    const began = performance.now();
    for (const piece of ["<<E ", "(", "$((", '"', "'", "`", "a && ", "<<<", "\\"]) hasAmpersand(piece.repeat(100_000));
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

describe("the background", () => {
  it("is not offered where it is switched off, in the schema, the description and calls", async () => {
    const tool = bashTool(await terminalIn(), { enabledBackground: false });
    expect(JSON.stringify(tool.definition())).not.toMatch(/background/i);
    const error = await refusal(callTool(tool, args("true", { is_background: true })));
    expect(error.kind).toBe("invalidArguments");
  });

  it.each([
    [{ backgroundOnTimeout: true }, 1500, "Still running after 1.5 s"],
    [{ backgroundOnTimeout: true, backgroundAfterMs: 1500 }, 60_000, "Still running after 1.5 s"],
    [{ backgroundOnTimeout: true, backgroundAfterMs: 0 }, 1500, "Still running after 1.5 s"],
  ])("takes over with %j", async (params, timeout, expected) => {
    const terminal = await terminalIn();
    const { text } = await hosted(bashTool(terminal, params), args("echo part; sleep 98004", { timeout }));
    expect(text).toContain(expected);
    expect(text).toMatch(/Until now it wrote:\npart$/);
    await until(async () => (await processesWith("sleep 98004")).length > 0);
    // The task is known by the call that started it, too.
    expect(await said(taskOutputTool(terminal), { task_ids: ["call"] })).toContain("task-1 (x): running\npart");
    expect(await said(taskKillTool(terminal), { task_id: "task-1" })).toBe("task-1 was ended.");
  });

  it("is told of with id, process, log, and how to get at it by the client's names", async () => {
    const terminal = await terminalIn();
    const start = (toolOf: (kind: string) => string | undefined) => {
      const events = bashTool(terminal).execute(args("sleep 98005", { is_background: true }), {
        callId: "c",
        signal: new AbortController().signal,
        resources: new Resources(),
        names: { tool: "bash", param: (name) => name, toolOf, paramOf: (_, name) => `my_${name}` },
        notify: () => {},
      });
      return (async () => {
        for await (const event of events as AsyncIterable<{ type: string; result: { text: string } }>) {
          if (event.type === "result") return event.result.text;
        }
        throw new Error("no result");
      })();
    };
    const first = await start((kind) => ({ backgroundTaskAction: "look", killTaskAction: "stop" })[kind]);
    expect(first).toMatch(/as task-1 \(pid \d+\)\. Its output goes to \S+1\.log\. /);
    expect(first).toContain("with look (my_task_ids), end it with stop.");
    const second = await start(() => undefined);
    expect(second).toContain("Look at it, wait for it or end it by this id.");
    expect(second).toContain("These run as well: task-1 (x).");
  });

  it.each([
    [{ task_ids: [] }, "names no task"],
    [{ task_ids: [" ", ""] }, "names no task"],
    [{ task_ids: ["task-9"] }, "There is no task task-9."],
    [{ task_ids: Array.from({ length: 21 }, (_, i) => `t${i}`) }, "At most 20 tasks"],
  ])("refuses %j", async (input, expected) => {
    const result = await callTool(taskOutputTool(await terminalIn()), input);
    expect(result.errorDetail).toBeDefined();
    expect(result.text).toContain(expected);
  });

  it("answers at once of a task that has ended, was killed, or runs and is not waited for; once for an id twice", async () => {
    const terminal = await terminalIn();
    const [bash, look] = [bashTool(terminal), taskOutputTool(terminal)];
    for (const command of ["echo a", "sleep 98006", "sleep 98007"])
      await said(bash, args(command, { is_background: true }));
    await said(look, { task_ids: ["task-1"], timeout_ms: 30_000 });
    await said(taskKillTool(terminal), { task_id: "task-2" });
    const text = await said(look, { task_ids: ["task-1", " task-1 ", "task-2", "task-3"] });
    expect(text).toBe(
      "task-1 (x): ended, exit 0\na\n\ntask-2 (x): ended (killed)\n(no output)\n\ntask-3 (x): running\n(no output)\n\n" +
        "[1 of 3 still run. To wait for the end, give timeout_ms.]",
    );
    expect(await said(look, { task_ids: ["task-1", "task-2"], timeout_ms: 600_000 })).toContain("ended, exit 0");
    expect(await said(taskKillTool(terminal), { task_id: "task-1" })).toBe("task-1 had ended already: ended, exit 0.");
  });

  it("is still told of where somebody stopped waiting for it", async () => {
    const terminal = await terminalIn();
    const resources = new Resources();
    const bash = bashTool(terminal);
    await hosted(bash, args("sleep 98008", { is_background: true }), { resources });
    const controller = new AbortController();
    const waiting = hosted(
      taskOutputTool(terminal),
      { task_ids: ["task-1"], timeout_ms: 600_000 },
      {
        resources,
        signal: controller.signal,
      },
    );
    controller.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    await until(async () => (await processesWith("sleep 98008")).length > 0);
    for (const pid of await processesWith("sleep 98008")) process.kill(pid);
    const [reminder] = bash.metadata.reminders ?? [];
    const ctx = {
      callId: "c",
      signal: new AbortController().signal,
      resources,
      names: { tool: "bash", param: (name: string) => name, toolOf: () => "look", paramOf: () => undefined },
      notify: () => {},
    };
    let told: readonly { text: string }[] = [];
    while (told.length === 0) {
      told = (await reminder?.collect(ctx, { text: "" } as never)) ?? [];
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(told[0]?.text).toMatch(/^The background task task-1 \(x\) has ended: .*\. What it wrote is told by look\.$/);
  });

  it("needs its tools in a set", () => {
    expect(shellTools().map((tool) => tool.metadata?.id)).toEqual(["bash", "task_output", "task_kill"]);
    expect(shellTools(undefined, { bash: { enabledBackground: false } })).toHaveLength(1);
    expect(bashTool().metadata.requires).toMatchObject({
      all: [{ ifParams: { enabledBackground: true } }, { ifParams: { backgroundInput: true } }],
    });
    const [wrong] = bashTool().metadata.params?.check?.({ backgroundOnTimeout: true, enabledBackground: false }) ?? [];
    expect(wrong?.field).toBe("backgroundOnTimeout");
  });
});

describe("the shell", () => {
  it.each([
    ["cd sub", "basename $PWD", "sub"],
    ["export A='x y'", "echo $A; env | grep ^A=", "x y\nA=x y"],
    ["B=$'1\\n2'", 'echo "$B"', "1\n2"],
    ["f() { echo in f; }", "f", "in f"],
    ["alias hi='echo hello'", "hi", "hello"],
    ["declare -A m=([a]='b c' [d]=')')", "echo ${m[a]} ${m[d]}", "b c )"],
    ["Q='\"$x`y\\z'", 'printf %s "$Q"', '"$x`y\\z'],
    ["unset GIVEN", "echo ${GIVEN-gone}", "gone"],
    ["GIVEN=other", "sh -c 'echo $GIVEN'", "other"],
    ["export -n GIVEN", "echo $GIVEN $(sh -c 'echo ${GIVEN-none}')", "given none"],
    ["set -e", "false; echo on", "on"],
    ["set -u; set -o pipefail", "echo $NONE on", "on"],
    ["export C=1; false", "echo $C", "1"],
    ["export D=1; exit 4", "echo $D", "1"],
    ["E=1; kill -9 $$", "echo ${E-none}", "none"],
    ["pwd() { echo no; }; printf() { echo no; }; declare() { echo no; }; F=1", "echo $F", "1"],
    ["IFS=:", "set -- a:b; echo $1", "a:b"],
    ["set -- p q", "echo $#", "0"],
    ["trap 'echo bye' EXIT; G=1", "echo ${G-none}", "1"],
    ["trap 'echo bye' EXIT; G=1; exit", "echo ${G-none}", "none"],
    [
      "shopt -s extglob\ng() { case $1 in !(a)) echo other ;; esac; }; alias hi='echo hello'",
      "g b; hi",
      "other\nhello",
    ],
    [
      "shopt -s extglob\nk() { echo !(a); }\nshopt -u extglob; alias hi='echo hello'",
      "hi; shopt -q extglob; echo $?",
      "hello\n1",
    ],
    ['H=\'declare -x PATH="/nowhere"\ndeclare -x Z="1"\'', "echo ${Z-none}; ls / >/dev/null && echo ok", "none\nok"],
  ])("after %j has for %j: %j", async (first, second, expected) => {
    const cwd = await tempFolder();
    await mkdir(join(cwd, "sub"));
    const env = { PATH: process.env.PATH, GIVEN: "given" };
    const bash = bashTool(await terminalIn({ cwd, env }));
    await said(bash, args(first));
    expect(await said(bash, args(second))).toBe(`exit: 0\n${expected}`);
    expect(await said(bash, args(second))).toBe(`exit: 0\n${expected}`); // what was kept is kept
  });

  it("goes on in its first folder when its own is gone, and names it; a named one that is gone is an error", async () => {
    const cwd = await tempFolder();
    await mkdir(join(cwd, "a b"));
    const bash = bashTool(await terminalIn({ cwd }));
    await said(bash, args("cd 'a b'"));
    await rm(join(cwd, "a b"), { recursive: true });
    expect(await said(bash, args("pwd"))).toBe(
      `exit: 0\n${cwd}\n[The folder ${cwd}/a b does not exist any more: the command ran in the first one.]`,
    );
    const error = await refusal(callTool(bash, args("pwd", { cwd: "a b" })));
    expect(error.kind).toBe("notFound");
    expect(error.message).toContain(`${cwd}/a b`);
    // Left from within.
    await said(bash, args("mkdir c; cd c; rmdir ../c"));
    expect(await said(bash, args("pwd"))).toContain(`[The folder ${cwd}/c does not exist any more`);
  });

  it("keeps its state where a background command changes its own", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal);
    await said(bash, args("X=1"));
    await said(bash, args("echo $X; X=2", { is_background: true }));
    expect(await said(taskOutputTool(terminal), { task_ids: ["task-1"], timeout_ms: 30_000 })).toContain("\n1");
    expect(await said(bash, args("echo $X"))).toBe("exit: 0\n1");
  });

  it("takes no state that was not written to its end, or is none", async () => {
    const bash = bashTool(await terminalIn());
    await said(bash, args("X=1"));
    for (const command of [
      'X=2; trap "echo garbled > $__shedkit_new" EXIT',
      "exec true",
      'X=2; mkfifo "$__shedkit_new"; exec true',
      'ln -s /etc/passwd "$__shedkit_new"; exec true',
    ]) {
      await callTool(bash, args(command));
      expect(await said(bash, args("echo $X"))).toBe("exit: 0\n1");
    }
  });

  it("leaves nothing in the folder of its logs but these and the state", async () => {
    const logFolder = await tempFolder();
    const terminal = await terminalIn({ logFolder });
    const job = await terminal.start("X=1; cd /", { state: "s" });
    expect((await job.exited).cwd).toBe("/");
    const [own = ""] = await readdir(logFolder);
    expect((await readdir(join(logFolder, own))).sort()).toEqual(["1.log", "state-73"]);
    expect((await stat(join(logFolder, own, "state-73"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(logFolder, own, "state-73"), "utf8")).not.toContain("PATH=");
  });

  it.each([
    ["what is given", { A: "1" }, "echo $A", "1"],
    ["nothing else", {}, "echo ${HOME-none}", "none"],
    ["no secrets", { MY_SECRET: "longer than this", A: "1" }, "echo $A${MY_SECRET-none}", "1none"],
    [
      "no secrets by their shorter names either",
      { DB_PASS: "a", MYSQL_PWD: "b", GITHUB_PAT: "c", npm_config__auth: "d", SESSION_COOKIE: "e", SSH_AUTH_SOCK: "f" },
      "echo x$DB_PASS$MYSQL_PWD$GITHUB_PAT$npm_config__auth$SESSION_COOKIE$SSH_AUTH_SOCK",
      "xf",
    ],
    ["a mark, whatever is given", { SHEDKIT_AGENT: "0" }, "echo $SHEDKIT_AGENT", "1"],
    ["no terminal of a key agent", { GPG_TTY: "/dev/pts/0" }, "echo ${GPG_TTY-none}", "none"],
    [
      "no colours, no pagers",
      { PAGER: "less", TERM: "xterm", FORCE_COLOR: "3" },
      "echo $PAGER $TERM $FORCE_COLOR",
      "cat dumb 0",
    ],
    ["unbuffered Python", {}, "echo $PYTHONUNBUFFERED", "1"],
    ["unless that is set", { PYTHONUNBUFFERED: "" }, "echo x$PYTHONUNBUFFERED", "x"],
  ])("sees of variables %s", async (_, env, command, expected) => {
    expect(await said(bashTool(await terminalIn({ env })), args(command))).toBe(`exit: 0\n${expected}`);
  });

  it("ends with the command's own exit code and its own EXIT trap, and shows nothing of what is done besides", async () => {
    const bash = bashTool(await terminalIn());
    expect(await said(bash, args("trap 'echo bye $?' EXIT; (exit 5)"))).toBe("exit: 5\nbye 5");
    expect(await said(bash, args("set -x; (exit 6)"))).toMatch(/^exit: 6\n\++ exit 6$/);
    expect(await said(bash, args("IFS=12; (exit 12)"))).toBe("exit: 12\n(no output)");
    const sh = bashTool(await terminalIn({ shell: "/bin/sh" }));
    expect(await said(sh, args("trap 'echo bye' EXIT; export A=1; (exit 5)"))).toBe("exit: 5\nbye");
    expect(await said(sh, args("set -x; exit 6"))).toMatch(/^exit: 6\n\++ exit 6$/);
    expect(await said(sh, args("echo $A"))).toBe("exit: 0\n1");
  });

  it("runs a prefix before each command, which must succeed", async () => {
    const terminal = await terminalIn();
    const tool = bashTool(terminal, { commandPrefix: "export P=1" });
    expect(await said(tool, args("echo $P"))).toBe("exit: 0\n1");
    expect(await said(tool, args("# first\necho $P"))).toBe("exit: 0\n1");
    expect(await said(tool, args("alias hi='echo hello'\nhi"))).toBe("exit: 0\nhello");
    const failing = bashTool(terminal, { commandPrefix: "(exit 4)" });
    for (const command of ["echo no", "true; echo no", "true || echo no\necho no", "echo no & echo no"])
      expect(await said(failing, args(command))).toBe("exit: 4\n(no output)");
  });

  it("is the session's resource, or there is none, which is an error that names it", async () => {
    const error = await refusal(hosted(bashTool(), args("true")));
    expect(error).toMatchObject({ kind: "serviceUnavailable", message: expect.stringContaining("terminal") });
    const resources = new Resources();
    resources.insert(terminalResource, await terminalIn());
    expect((await hosted(bashTool(), args("echo here"), { resources })).text).toBe("exit: 0\nhere");
  });

  it("says of itself that its log was too long", async () => {
    const terminal = new NodeTerminal({ cwd: await tempFolder(), maxLogBytes: 1000, killMs: 100 });
    const text = await said(bashTool(terminal), args("yes"));
    expect(text).toMatch(/^killed: outputLimit\n/);
    await terminal.dispose();
  });
});

describe("what a command writes while it runs", () => {
  it("is passed on in pieces that do not overlap, the last bytes too", async () => {
    const command = "for i in 1 2 3; do printf 'line %s\\n' $i; sleep 0.15; done; printf end";
    const { progress, result } = await hosted(bashTool(await terminalIn()), args(command));
    expect(progress.map(({ text }) => text).join("")).toBe("line 1\nline 2\nline 3\nend");
    expect(progress.every(({ text }) => text !== "" && (text ?? "").length <= 16 * 1024)).toBe(true);
    expect(result.text).toBe("exit: 0\nline 1\nline 2\nline 3\nend");
  });
});
