import { bashTool } from "@shedkit/tools-shell";
import { describe, expect, it } from "vitest";
import { onlyReads } from "../src/plan/read-only-commands.js";

// Only what a command would access is asked for: nothing is run.
const bash = bashTool({} as never);

/** Whether a whole command line only reads, by what the shell tool tells of it. */
function lineOnlyReads(command: string): boolean {
  const access = bash.metadata.access?.({ command, description: "" }) ?? [];
  return (
    access.length > 0 &&
    access.every(({ action, target }) => action === "read" || (action === "execute" && onlyReads(target)))
  );
}

describe("commands that are known only to read", () => {
  it.each([
    "ls -la src",
    "cat 'a file' | grep -n \"x y\" | head -20",
    "cd packages && git status --short && git diff HEAD~1 -- src",
    "git --no-pager log --oneline -5",
    "git branch -a",
    "git branch --show-current",
    "git remote -v",
    "git stash list",
    "git config --get user.name",
    "git tag -l 'v*'",
    "find . -name '*.ts' -newer x",
    "find . -name x | xargs grep -l y",
    "rg -n foo src 2>/dev/null",
    "sed -n '1,20p' a.txt",
    "awk '{ print $1 }' a.txt",
    "sort a.txt | uniq -c | wc -l",
    "node --version; npm -v; go version",
    "date +%s",
    "date -u -d yesterday",
    "test -f a && echo yes",
    "timeout 5 grep x y",
    "bash -c 'ls; cat a'",
    "xxd -l 64 a.bin",
    "kubectl get pods",
    "diff <(ls a) <(ls b)",
  ])("%s", (command) => {
    // A process substitution may be beyond what is parsed: then it is not known, which is safe.
    expect(lineOnlyReads(command) || command.includes("<(")).toBe(true);
  });

  it.each([
    "",
    "rm a",
    "ls; rm a",
    "ls && touch a",
    "cat a > b",
    "cat a >> b",
    "echo x | tee a",
    "$(echo rm) a",
    "`cat x`",
    "find . -delete",
    "find . -exec rm {} ;",
    "find . | xargs rm",
    "git commit -m x",
    "git checkout .",
    "git branch new",
    "git branch -D old",
    "git tag v1",
    "git tag -l -d v1",
    "git stash",
    "git diff --output=a",
    "git log --outpu a",
    "git -c core.pager=x log",
    "git config user.name me",
    "git fsck --lost-found",
    "git reflog expire --all",
    "git remote add x y",
    "git grep -Oless x",
    "sort -o a a",
    "sort --outp=a a",
    "uniq a b",
    "sed -i s/a/b/ x",
    "awk '{ print > \"a\" }' x",
    "date -s 2020-01-01",
    "date 010100002020",
    "hostname new",
    "tree -o a",
    "xxd a b",
    "xxd -r a",
    "env LD_PRELOAD=x ls",
    "PATH=. ls",
    "./ls",
    "/tmp/git status",
    "bash build.sh",
    "sudo ls",
    "npm test",
    "node version",
    "npm version patch",
    "make",
    "git -C evil log",
    "git --git-dir=./evil status",
    "git --git-dir ./evil status",
    "git --work-tree=/ status",
    "kubectl delete pod x",
    "kubectl get po --kubeconfig=./x.yaml",
    "kubectl describe po --kubeconfig ./x.yaml",
    "kubectl describe po --kuberc=x",
    "kubectl get po --profile=cpu --profile-output=a",
    "sh -c 'rm a'",
    "eval 'rm a'",
    "timeout 5 rm a",
    "ls \u2028; rm a",
    "__proto__",
    "constructor x",
  ])("not %s", (command) => {
    expect(lineOnlyReads(command)).toBe(false);
  });
});
