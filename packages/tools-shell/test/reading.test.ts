import { describe, expect, it } from "vitest";
import { accessOf } from "../src/access.js";
import type { WordPath } from "../src/words.js";

/** What is told of the files that a command reads, by command. */
function readings(command: string, cwd?: string) {
  return Object.fromEntries(
    accessOf(command, cwd).flatMap(({ action, target, detail }) => (action === "execute" ? [[target, detail]] : [])),
  );
}

const only = (...reads: string[]) => ({ reads, onlyReads: true });

describe("what a command reads", () => {
  it.each([
    ["cat a /etc/b -", only("a", "/etc/b")],
    ["cat -- -n", only("-n")],
    ["head -n 20 a", only("a")],
    ["head -n20 a", only("a")],
    ["head -20 a", only("a")],
    ["ls", only(".")],
    ["ls -la /x", only("/x")],
    ["grep -n x a b", only("a", "b")],
    ["grep -e x a", only("a")],
    ["grep -f list a", only("list", "a")],
    ["grep -rn x", only("./**")],
    ["grep -r x src/", only("src/**")],
    ["rg x", only("./**")],
    ["rg --files src", only("src/**")],
    ["rg -g '*.ts' 'a*' src", only("src/**")],
    ["sort -t , -k 2 a", only("a")],
    ["tr '*' x", only()],
    ["git diff --stat -- a", only("a")],
    ["git show HEAD:../a", only("../a")],
    ["git status", only()],
    ["cat ~/a", only("~/a")],
    ["cat '~/a'", only("./~/a")],
    ["cat '*'", only("*")],
    ["timeout 5 ls", only()],
    ["cat *.md src/*.ts", only("*.md", "src/*.ts")],
    ["grep -r x src/*/", only("src/*/**")],
    ["grep -r x ~/a", only("~/a/**")],
    ["grep -r x '~/a'", only("./~/a/**")],
    ["find", only("./**")],
    ["find / src/ -name '*.ts' -newer a", only("//**", "src/**", "a")],
    ["echo $HOME", only()],
  ])("%s", (command, expected) => expect(Object.values(readings(command))[0]).toEqual(expected));

  it("may be changed by what stands for several words", () => {
    expect(readings("sort *.md")).toEqual({ "sort *.md": { reads: ["*.md"] } });
    expect(readings("grep a* b")).toEqual({ "grep a* b": { reads: ["b"] } });
  });

  it("depends on the folder, and is not known after a change of it", () => {
    expect(readings("cat a /b", "/x")).toEqual({ "cd /x": only("/x"), "cat a /b": only("/x/a", "/b") });
    expect(readings("cd x; cat a; cat /b; pwd")).toEqual({
      "cd x": { reads: ["x"] },
      "cat a": { reads: null },
      "cat /b": only("/b"),
      pwd: only(),
    });
    expect(readings("git status", "/x")["git status"]).toEqual({ reads: [] });
    expect(readings("cd x; git status")["git status"]).toEqual({ reads: null });
    expect(readings("cd")).toEqual({ cd: { reads: ["~"] } });
    expect(readings("cd -")).toEqual({ "cd -": { reads: ["~-"] } });
    expect(readings("ls | xargs cat")["cat <input>"]).toEqual({ reads: null });
  });

  it.each([
    "tee a",
    "cat --unknown a",
    "./cat a",
    "sort -T . a",
    "uniq a b",
    "find -L x",
    "find x -delete",
    "tail -f a",
    "rg -L x",
    "rg -z x",
    "rg --follow x",
    "grep -R x",
    "git push",
    "git branch x",
    "git diff --no-index a b",
    "git -C x log",
    "ps auxe",
    "date 01020304",
    "hostname x",
    "kubectl get secret",
    "kubectl logs -f x",
    "sudo ls",
    "env A=1 ls",
    "constructor x",
    "toString",
  ])("is not told of %s", (command) => expect(Object.values(readings(command))[0] ?? {}).not.toHaveProperty("reads"));

  it("is not told of a command with variables of its own", () => {
    expect(readings("A=1 cat a")).toEqual({ "A=1 cat a": undefined, "cat a": only("a") });
  });
});

describe("what the words of a command that is not known may be", () => {
  /** The paths by command, `?` after what may be no path, `*` after what stands for others. */
  const words = (command: string, cwd?: string) =>
    Object.fromEntries(
      Object.entries(readings(command, cwd)).map(([target, detail]) => {
        const all = (detail as { words?: WordPath[] | null } | undefined)?.words;
        return [
          target,
          all?.map(({ path, isName, isOpen }) => `${path}${isName ? "?" : ""}${isOpen ? "*" : ""}`) ?? all,
        ];
      }),
    );

  it.each([
    ["less .env", [".env"]],
    ["less -N -- build", ["build?"]],
    ["dd if=.env of=x", ["if=.env", ".env", "of=x?", "x?"]],
    ["curl -d @.env --data=a=@~/b", [".env", "@.env", "a=@~/b", "~/b"]],
    ["docker run -v ./.env:/x", ["run?", "./.env:/x", "./.env", "/x"]],
    ["tar -f.env --file=", [".env"]],
    ["less ~/.x '~/.y' ~", ["~/.x", "./~/.y", "~"]],
    ["less .e* '.e*'", [".e**", ".e**"]],
    ["less 'a b' ''", ["a b?"]],
    ["make", undefined],
    ["cat a", undefined],
  ])("%s", (command, expected) => {
    const told = Object.values(words(command))[0];
    expect(told && [...told].sort()).toEqual(expected && [...expected].sort());
  });

  it("depends on the folders that come before", () => {
    expect(words("less a /b", "/x")["less a /b"]).toEqual(["/x/a?", "/b"]);
    expect(words("cd x && less a")["less a"]).toEqual(["a?", "x/a?"]);
    expect(words("(cd x); cd /y; less a")["less a"]).toEqual(["a?", "x/a?", "/y/a?"]);
    for (const move of ["cd -", "popd", "pushd", "pushd +1", "cd x*", "cd 1; cd 2; cd 3; cd 4"]) {
      expect([move, words(`${move}; less a`)["less a"]]).toEqual([move, null]);
      expect([move, words(`${move}; less /a`)["less /a"]]).toEqual([move, ["/a"]]);
    }
    expect(words("ls | xargs less")["less <input>"]).toBeNull();
  });

  it("is told of very many in no long time, or not", () => {
    expect(words(`x ${"a ".repeat(2000)}`)[`x ${"a ".repeat(2000)}`.trim()]).toBeNull();
    expect(words(`x ${"a=".repeat(40_000)}b`)[`x ${"a=".repeat(40_000)}b`]).toHaveLength(3);
  });
});
