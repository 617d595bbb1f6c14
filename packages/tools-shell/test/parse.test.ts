import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accessOf } from "../src/access.js";
import { parseCommand } from "../src/index.js";

const targets = (command: string) => accessOf(command).map(({ action, target }) => `${action} ${target}`);
const words = (command: string) => {
  const parsed = parseCommand(command);
  return parsed.type === "unknown" ? parsed.reason : parsed.commands.map((simple) => simple.words);
};

describe("parseCommand", () => {
  it.each([
    ["ls -la", [["ls", "-la"]]],
    ["a;b && c||d | e |& f & g\nh", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"]]],
    [`echo 'a b' "c 'd' \\" \\x" e\\ f g"h"'i'`, [["echo", "a b", `c 'd' " \\x`, "e f", "ghi"]]],
    ["echo a#b # comment; rm x", [["echo", "a#b"]]],
    ["a \\\n b", [["a", "b"]]],
    ["(cd x; a) && { b; }", [["cd", "x"], ["a"], ["b"]]],
    ["! a | b", [["a"], ["b"]]],
    ["echo } {", [["echo", "}", "{"]]],
    ["cat <<'E' > f\n$(rm x)\nE\necho", [["cat"], ["echo"]]],
    ["cat <<-E\n\tplain\n\tE", [["cat"]]],
    ["echo 2>&1 3 >f", [["echo", "3"]]],
    ["ls *.ts ~/x {} '{a,b}'", [["ls", "*.ts", "~/x", "{}", "{a,b}"]]],
    ["time -p a | ! time b", [["a"], ["b"]]],
    ["echo a\u00a0b", [["echo", "a\u00a0b"]]],
    ["[ -f x ] && a", [["[", "-f", "x", "]"], ["a"]]],
    ["", []],
    ["A=1 B='2 3' cmd x", [["cmd", "x"]]],
  ])("reads %j", (command, expected) => expect(words(command)).toEqual(expected));

  it.each([
    "echo $X",
    'echo "$(rm x)"',
    "echo `rm x`",
    "$'rm' x",
    "if a; then b; fi",
    "for x in a; do rm x; done",
    "f() { a; }",
    "function f { a; }",
    "[[ a ]]",
    "((a))",
    "a <(b)",
    "a > >(b)",
    "case a in a) b;; esac",
    "echo 'a",
    'echo "a',
    "a &&",
    "a && ; b",
    "| a",
    "(a",
    "a)",
    "{ a",
    "}",
    "a >",
    "a > *",
    "r* x",
    "{rm,-rf,/}",
    "~/bin/x",
    "cat <<E\n$(rm x)\nE",
    "cat <<E\na",
    "a\r\nb",
    "(a) b",
    "git {push,--force}",
    "rm {1..9}",
    "a \\",
  ])("cannot tell %j", (command) => expect(parseCommand(command).type).toBe("unknown"));

  it("says what is put in the background", () => {
    expect(parseCommand("a & b")).toMatchObject({ background: true });
    expect(parseCommand("a && b &> f; c 2>&1")).toMatchObject({ background: false });
  });

  it("comes to an end on any text", () => {
    const piece = fc.constantFrom(..."a;b&|()<>{}'\"\\\n $`#!=*~-1".split(""), "<<", "E\n", "&&", "if ");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        expect(["commands", "unknown"]).toContain(parseCommand(pieces.join("")).type);
      }),
      { numRuns: 2000 },
    );
  });

  it("gives back the words that were quoted", () => {
    const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" }), { minLength: 1 }), (list) => {
        expect(words(list.map(quote).join(" "))).toEqual([list]);
      }),
    );
  });

  it("takes time in proportion to the text", () => {
    const began = performance.now();
    expect(parseCommand("echo a && ".repeat(20_000)).type).toBe("unknown");
    expect(parseCommand(`${"(".repeat(2000)}a`).type).toBe("unknown");
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe("accessOf", () => {
  it("tells first of the folder that a call names: leave for a command is none for it elsewhere", () => {
    const there = (cwd?: string) => accessOf("./build.sh", cwd).map(({ target }) => target);
    expect([there(" /other/ "), there("a b"), there("/"), there(" "), there()]).toEqual([
      ["cd /other", "./build.sh"],
      ["cd 'a b'", "./build.sh"],
      ["cd /", "./build.sh"],
      ["./build.sh"],
      ["./build.sh"],
    ]);
  });

  it("tells of files in the folder that a call names", () => {
    const files = (command: string, cwd: string) =>
      accessOf(command, cwd).flatMap(({ action, target }) => (action === "execute" ? [] : [`${action} ${target}`]));
    expect(files("a > passwd < /x", "/etc")).toEqual(["write /etc/passwd", "read /x"]);
    expect(files("a > ../b", " sub/ ")).toEqual(["write sub/../b"]);
    expect(files("a > b", "/")).toEqual(["write /b"]);
    expect(files("a > b", " ")).toEqual(["write b"]);
  });

  it.each([
    ["git status", ["execute git status"]],
    ["echo 'a b' > out 2>/dev/null", ["execute echo 'a b'", "write out"]],
    ["a >> x &> y >| z 2>&1 < in >&w", ["execute a", "write x", "write y", "write z", "read in", "write w"]],
    ["(a) > f", ["execute a", "write f"]],
    ["> f", ["write f"]],
    ["PATH=. git status", ["execute PATH=. git status", "execute git status"]],
    ["X=1", ["execute X=1"]],
    ["sudo rm x", ["execute sudo rm x", "execute rm x"]],
    ["nohup nice rm x", ["execute nohup nice rm x", "execute nice rm x", "execute rm x"]],
    ["bash -c 'a; rm x'", ["execute bash -c 'a; rm x'", "execute a", "execute rm x"]],
    ["bash x.sh", ["execute bash x.sh"]],
    ["eval 'rm x'", ["execute eval 'rm x'", "execute rm x"]],
    ["find . -name x", ["execute find . -name x"]],
    ["timeout -k 1 5 rm x", ["execute timeout -k 1 5 rm x", "execute rm x"]],
    ["env A=1 B=2 rm y", ["execute env A=1 B=2 rm y", "execute rm y"]],
    ["command -v rm", ["execute command -v rm"]],
    ["ls | xargs rm -f", ["execute ls", "execute xargs rm -f", "execute rm -f <input>"]],
    ["wc <> f", ["execute wc", "read f", "write f"]],
    ["sed -n 1,9p f && sed 's/a b/c;d/g' f", ["execute sed -n 1,9p f", "execute sed 's/a b/c;d/g' f"]],
    ["awk '{print $1}' f", ["execute awk '{print $1}' f"]],
    ["git switch -c x", ["execute git switch -c x"]],
    ["git config --get user.name", ["execute git config --get user.name"]],
    ["tar xzf a.tar.gz", ["execute tar xzf a.tar.gz"]],
    ["echo a > x; cd sub; b > /tmp/y", ["execute echo a", "write x", "execute cd sub", "execute b", "write /tmp/y"]],
    ["uniq -f 1 a && git log --oneline", ["execute uniq -f 1 a", "execute git log --oneline"]],
    ["printf '%s' PATH=x; read line", ["execute printf %s PATH=x", "execute read line"]],
  ])("tells what %j does", (command, expected) => expect(targets(command)).toEqual(expected));

  it.each([
    "echo a; $X",
    "sudo -u x rm y",
    "xargs -I{} rm {}",
    "bash -lc 'rm x'",
    "sh -c",
    "find . -exec rm {} ';'",
    "timeout --foo 5 rm x",
    "env -S 'rm x'",
    "env A=1 -i rm x",
    "echo 'rm x' | sh",
    "bash <<'E'\nrm x\nE",
    "bash -s < f",
    "find . -name x -delete",
    "find . -fprint /etc/x",
    "fd x -x rm",
    "echo --pre=rm | xargs rg x",
    "ls | xargs sh",
    "rg --pre rm x",
    "rg --pr=rm x",
    "sort --comp=./x f",
    "sort -o /etc/x f",
    "tar --to-comm=rm -xf a",
    "tar xfI a ./rm",
    "tar -xzI ./rm -f a",
    "rsync -ae ./rm a b:",
    "git -c alias.x='!rm x' x",
    "git -C . --config-env=a=b x",
    "git --exec-path=. x",
    "git clone -c core.sshCommand=rm a",
    "git clone 'ext::rm x'",
    "git fetch --upload-p=rm a",
    "git grep -O./rm x",
    "git rebase -x 'rm x' HEAD",
    "git bisect run rm x",
    "git submodule foreach 'rm x'",
    "git config alias.x '!rm x'",
    "awk 'BEGIN { system(\"rm x\") }'",
    "awk '{ print | \"sh\" }'",
    "awk -f x",
    "sed 's/a/rm x/e' f",
    "sed -i s/a/b/ f",
    "sed 'w /etc/x' f",
    "sed -f x f",
    "sed '1e rm x' f",
    "alias ls='rm x'",
    "hash -p ./rm ls",
    "enable -f ./x rm",
    "export PATH=.",
    "export LD_PRELOAD=./x.so",
    "test -v 'a[$(rm x)]'",
    "printf -v 'a[$(rm x)]' 1",
    "mapfile -C 'rm x' a",
    "trap 'rm x' EXIT",
    "builtin eval 'rm $X'",
    "bash -c 'echo $X'",
    "cd /etc && echo x > passwd",
    "builtin cd /etc; echo x >> passwd",
    "eval 'cd /etc'; cat < passwd",
    "git log --output=/etc/x",
    "git diff --outp /etc/x",
    "compgen -C 'rm x'",
    "history -w /etc/x",
    "printf -v PATH /tmp",
    "printf -vPATH /tmp",
    "read PATH",
    "readarray LD_PRELOAD",
    "csh -c 'rm x'",
    "ltrace rm x",
    "firejail rm x",
    "uniq a /etc/x",
    "shuf -o /etc/x a",
    "xxd -r a /etc/x",
    `${"sudo ".repeat(20)}rm x`,
  ])("asks for all of %j", (command) => {
    const asked = accessOf(command);
    expect(asked.some(({ target }) => target.startsWith("unknown: "))).toBe(true);
  });
});
