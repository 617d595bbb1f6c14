import { spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accessOf } from "../src/access.js";
import { tempFolder } from "./helpers.js";

/** Whether a real bash comes to run `evil` in a command line, however it exits. */
async function bashIn(folder: string): Promise<(command: string) => Promise<boolean>> {
  const bin = join(folder, "bin");
  await mkdir(bin);
  await mkdir(join(folder, "work"));
  for (const name of ["evil", "ok"]) {
    await writeFile(join(bin, name), `#!/bin/sh\n: > ${folder}/ran-\${0##*/}\n`);
    await chmod(join(bin, name), 0o755);
  }
  for (const name of ["env", "xargs", "bash", "nohup", "cat", "true"])
    await symlink(`/usr/bin/${name}`, join(bin, name));
  return async (command) => {
    await rm(join(folder, "ran-evil"), { force: true });
    spawnSync("/bin/bash", ["-c", 'eval "$SHEDKIT_TEST"'], {
      cwd: join(folder, "work"),
      env: { PATH: bin, SHEDKIT_TEST: command },
      timeout: 60_000,
      input: "",
    });
    return readFile(join(folder, "ran-evil")).then(
      () => true,
      () => false,
    );
  };
}

/** Whether one who reads the requests is told that `evil` runs, or that it cannot be told. */
function isTold(command: string): boolean {
  return accessOf(command).some(
    ({ action, target }) =>
      action === "execute" && (target.startsWith("unknown: ") || /^(?:\S*\/)?evil(?: |$)/.test(target)),
  );
}

const TRICKS = [
  "e\\\nvil",
  "ok;evil",
  "ok&evil",
  "ok\nevil",
  "ok |& evil",
  "'e'v\"i\"l",
  "A=1 evil",
  "A='x y' B= evil 1",
  "> f evil",
  "2>&1 evil",
  "{ evil; }",
  "(ok; (evil))",
  "! evil",
  "time -p evil",
  "cat <<E | evil\n$x\nE",
  "cat <<'E'\nE\nevil",
  "cat <<-E\n\tE\nevil",
  "cat <<\\E\n$(evil)\nE\nevil",
  "ok # x\nevil",
  "ok a#b;evil",
  "env A=1 evil",
  "env evil",
  "command evil",
  "command -p evil",
  "builtin eval evil",
  "eval 'ok; evil'",
  "eval ok \\; evil",
  "bash -c evil",
  "bash -ec evil",
  "echo evil | bash",
  "bash <<< evil",
  "nohup evil",
  "xargs evil",
  "xargs env evil",
  "echo evil | xargs env",
  "exec evil",
  "trap evil EXIT",
  "test -v 'a[$(evil)]'",
  "printf -v 'a[$(evil)]' 1",
  "unset 'a[$(evil)]'",
  "unset GIT_CONFIG_COUNT",
  "declare -i 'a=b[$(evil)]'",
  "let 'a[$(evil)]=1'",
  "f() { evil; }; f",
  "alias x=evil\nx",
  "shopt -s expand_aliases\nalias x=evil\nx",
  "hash -p ../bin/evil ok; ok",
  "echo $((x[$(evil)]))",
  'echo "`evil`"',
  "{ok,evil}",
  "env {A=1,evil}",
  "$'evil'",
  "<(evil) ok",
  "ok > >(evil)",
  "[[ $(evil) ]]",
  "((a[$(evil)]))",
  "case a in a) evil;; esac",
  "coproc evil",
  "../bin/evil",
  "../bin/evi?",
];

const PIECES =
  "evil|ok|x|A=1|;|&&|||||&|(|)|{ |; }|'|\"|\\|\n|<<E\n|\nE\n|<<'E'\n|> f|2>&1|#| |time |! |eval |command |env |bash -c |<<<|$(evil)|`evil`|{ok,evil}".split(
    /(?<!\|)\|(?!\|)|(?<=\|\|)\|(?=[^|])/,
  );

describe("what bash runs", () => {
  it("is told before, for tricks that are known", async () => {
    const runs = await bashIn(await tempFolder());
    const told: string[] = [];
    let ran = 0;
    for (const command of TRICKS) {
      if (isTold(command)) told.push(command);
      if (await runs(command)) ran++;
    }
    expect(told).toEqual(TRICKS);
    expect(ran).toBeGreaterThan(TRICKS.length / 2); // they are no tricks otherwise
  }, 120_000);

  it("is told before, for any command line", async () => {
    const runs = await bashIn(await tempFolder());
    const line = fc
      .array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 12 })
      .map((pieces) => pieces.join(" "));
    const close = fc.array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 8 }).map((pieces) => pieces.join(""));
    await fc.assert(
      fc.asyncProperty(fc.oneof(line, close), async (command) => {
        // Only what is taken to be harmless needs a look.
        if (!isTold(command)) expect([command, await runs(command)]).toEqual([command, false]);
      }),
      { numRuns: 300 },
    );
  }, 120_000);
});
