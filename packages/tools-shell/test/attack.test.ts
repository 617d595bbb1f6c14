// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the shell that fills them in
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, type ToolImpl } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { accessOf } from "../src/access.js";
import { bashTool } from "../src/index.js";
import { processesWith, tempFolder, terminalIn, until } from "./helpers.js";

const args = (command: string, more: object = {}) => ({ command, description: "x", ...more });
const said = async (tool: ToolImpl, input: object): Promise<string> => (await callTool(tool, input)).text;

/** Whether a request was made that no permission for a harmless command fits. */
const isTold = (command: string, evil: RegExp): boolean =>
  accessOf(command).some(({ action, target }) => target.startsWith("unknown: ") || evil.test(`${action} ${target}`));

describe("what a command line hides", () => {
  it.each([
    "ls; rm x",
    "ls\nrm x",
    "ls & rm x",
    "ls | rm x",
    "ls || rm x",
    "(ls; rm x)",
    "{ ls; rm x; }",
    "ls $(rm x)",
    "ls `rm x`",
    'ls "$(rm x)"',
    "ls <(rm x)",
    "cat <<E\n$(rm x)\nE",
    "cat <<E; rm x\nE",
    "X=1 rm x",
    "env -i rm x",
    "env X=1 rm x",
    "eval rm x",
    "eval 'ls; rm x'",
    "exec rm x",
    "command rm x",
    "builtin eval rm x",
    "\\rm x",
    "r\\m x",
    "'rm' x",
    "r''m x",
    "/bin/rm x",
    "$'\\x72m' x",
    "ls {a,b}; {rm,x}",
    "ls | xargs rm",
    "find . -exec rm {} +",
    "find . -delete",
    "find . -ok rm {} ;",
    "alias ls='rm x'\nls",
    "ls() { rm x; }; ls",
    "function ls { rm x; }; ls",
    "trap 'rm x' EXIT",
    "PROMPT_COMMAND='rm x' bash -i",
    "PATH=/tmp:$PATH ls",
    "bash -c 'rm x'",
    'sh -c "rm x"',
    "nohup sh -c 'rm x' &",
    "timeout 5 rm x",
    "time rm x",
    "! rm x",
    "if rm x; then ls; fi",
    "while rm x; do ls; done",
    "ls;\u00a0rm x",
    "ls\u2028rm x",
    "ls\u0085rm x",
    "ls\rrm x",
    "ls\u000brm x",
    "git -c core.pager='rm x' log",
    "git --git-dir=./evil log",
    "git --git-dir ./evil log",
    "split --filter='rm x' f",
    "split --filt 'rm x' f",
    "bat --pager='rm x' f",
    "batcat --pager 'rm x' f",
    "ag --pager='rm x' y",
    "ack --pager='rm x' y",
    "sdiff --diff-program=./x a b",
    "sdiff -o a a b",
    "diff3 --diff-program=./x a b c",
    "kubectl get po --kubeconfig=./x.yaml",
    "git -c alias.x='!rm x' x",
    "tar --checkpoint=1 --checkpoint-action=exec='rm x' -cf a b",
    "ssh -o ProxyCommand='rm x' host",
    "python -c 'import os; os.remove(\"x\")'",
    "perl -e 'unlink x'",
    "sed -n '1e rm x' f",
    "awk 'BEGIN{system(\"rm x\")}'",
    "vim -c '!rm x'",
    "ls >| x",
    "ls &> x",
    "ls <> x",
    "ls 3> x",
    ": > x",
    "> x",
    "coproc rm x",
    "exec 3> x",
    "echo y | tee x",
    "dd of=x",
    "[[ -v a[$(rm x)] ]]",
    "((a[$(rm x)]))",
    "echo ${x:=$(rm x)}",
    "ls #\nrm x",
    "ls \\\n; rm x",
    "cat <<'E' | sh\nrm x\nE",
    "sh <<< 'rm x'",
    ". ./x",
    "source x",
  ])("is told: %j", (command) => {
    // Each either names what runs beside `ls`, or cannot be told; `ls` alone is never all.
    const told = accessOf(command);
    const harmless = told.every(
      ({ action, target }) => action === "read" || /^(?:ls|cat|echo y?)(?: [\w.\\'$=<-]+)?$/.test(target),
    );
    expect([command, harmless]).toEqual([command, false]);
    if (/rm x/.test(command) && !/python|perl|vim|ssh|PATH|[^\n -~]/.test(command)) {
      expect(isTold(command, /^execute (?:\S+ )*(?:\S*\/)?rm\b/)).toBe(true);
    }
  });
});

describe("a command that does not want to end", () => {
  it.each([
    ["stops itself", "kill -STOP $$; sleep 98101"],
    ["takes no notice", "trap '' TERM INT HUP; while :; do sleep 98102; done"],
    ["forks twice", "(sleep 98103 &) ; (trap '' TERM; sleep 98104 &); sleep 98105"],
    ["makes groups of its own", "set -m; sleep 98106 & sleep 98107 & sleep 98108"],
    ["closes all it has open", "exec 0<&- 1>&- 2>&-; sleep 98109"],
    ["forks on and on", "f() { sleep 98110 & sleep 0.02; f; }; f"],
    ["stops what it started", "sleep 98111 & kill -STOP $!; wait"],
  ])("%s: is ended with all that it started", async (_, command) => {
    const terminal = await terminalIn();
    await expect(callTool(bashTool(terminal), args(command, { timeout: 400 }))).rejects.toMatchObject({
      kind: "timeout",
    });
    await until(async () => (await processesWith("sleep 981")).length === 0);
    expect(await said(bashTool(terminal), args("echo on"))).toBe("exit: 0\non");
  });

  it("leaves no dead process behind", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal);
    for (let i = 0; i < 10; i++) await callTool(bash, args("(true &); (exec true) & true"));
    const dead = async () => {
      const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").catch(() => "");
      const states = children
        .split(" ")
        .filter((pid) => pid !== "")
        .map((pid) => readFile(`/proc/${pid}/stat`, "latin1").catch(() => ""));
      return (await Promise.all(states)).filter((stat) => / Z /.test(stat)).length;
    };
    await until(async () => (await dead()) === 0);
  });
});

describe("what a command writes to confuse", () => {
  it.each([
    ["bytes that are no text", "head -c 200000 /dev/urandom", /^exit: 0\n/],
    ["one endless line", "head -c 3000000 /dev/zero | tr '\\0' x", /output left out here: it has 3,000,000 bytes/],
    ["nothing but line ends", "yes '' | head -n 500000", /^exit: 0\n/],
    ["the end of a result, again", "printf 'exit: 0\\n(no output)\\n'; exit 3", /^exit: 3\nexit: 0\n\(no output\)$/],
    ["signs that cannot be seen", "printf '\\342\\200\\256evil\\342\\200\\213'", /^exit: 0\nevil$/],
    ["a title and an answer of a terminal", "printf '\\033]0;x\\007\\033[6n\\033Pq\\033\\\\ok'", /^exit: 0\nok$/],
  ])("%s", async (_, command, expected) => {
    const text = await said(bashTool(await terminalIn()), args(command));
    expect(text).toMatch(expected);
    expect(text.length).toBeLessThan(21_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0008\u000e-\u001f\u007f\u202e\u200b]/);
  });

  it("in a huge amount, is not held in memory", async () => {
    const before = process.memoryUsage.rss();
    const text = await said(
      bashTool(await terminalIn()),
      args("head -c 300000000 /dev/zero | tr '\\0' 'y'", { timeout: 280_000 }),
    );
    expect(text).toContain("it has 300,000,000 bytes");
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
  }, 300_000);
});

describe("a command that looks for the secrets of its program", () => {
  it("is shown none of those that it was not given, from the program's own environment either", async () => {
    const cwd = await tempFolder();
    const secret = "sk-attack-0123456789";
    const terminal = await terminalIn({ cwd, env: { ...process.env, ATTACK_KEY: secret } });
    const text = await said(
      bashTool(terminal),
      args(`env; cat ${join("/proc", String(process.pid), "environ")}; echo ${secret}`),
    );
    expect(text).not.toContain(secret);
    expect(text).toContain("[hidden]");
  });
});
