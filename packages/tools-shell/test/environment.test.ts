import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bashTool } from "../src/index.js";
import { NodeTerminal, type NodeTerminalOptions } from "../src/node.js";
import { tempFolder, terminalIn } from "./helpers.js";

const ENV = {
  PATH: process.env.PATH,
  HOME: "/home/me",
  LC_ALL: "C",
  AWS_REGION: "eu-west-1",
  AWS_PROFILE: "work",
  API_KEY: "sk-0123456789",
  npm_config_cache: "/c",
};
// What a shell sets by itself, and what keeps programs from asking.
const OWN =
  /^(?:PWD|SHLVL|_|TERM|NO_COLOR|FORCE_COLOR|PAGER|GIT_PAGER|MANPAGER|GIT_TERMINAL_PROMPT|GIT_CONFIG_\w+|PYTHONUNBUFFERED)=/;

async function run(options: NodeTerminalOptions, command: string): Promise<string> {
  const terminal = await terminalIn({ env: ENV, ...options });
  const output = await bashTool(terminal).call({ command, description: "" });
  return output.type === "foreground" ? output.output_text : "";
}

/** The names of the variables that a command sees, its shell's own aside. */
async function names(options: NodeTerminalOptions): Promise<string[]> {
  const lines = (await run(options, "env")).split("\n").filter((line) => line !== "" && !OWN.test(line));
  return lines.map((line) => line.slice(0, line.indexOf("="))).sort();
}

describe("the variables that commands see", () => {
  it.each<[string, NodeTerminalOptions, string[]]>([
    ["all but secrets", {}, ["AWS_PROFILE", "AWS_REGION", "HOME", "LC_ALL", "PATH", "npm_config_cache"]],
    ["those that programs need", { variables: { inherit: "core" } }, ["HOME", "LC_ALL", "PATH"]],
    [
      "those that programs need, and what is kept",
      { variables: { inherit: "core" }, keepVariables: ["api_*", "AWS_PROFILE"] },
      ["API_KEY", "AWS_PROFILE", "HOME", "LC_ALL", "PATH"],
    ],
    ["none but those that are set", { variables: { inherit: "none", set: { A: "1" } } }, ["A"]],
    ["none of a pattern, whatever its case", { variables: { exclude: ["aws_*", "NPM*", "l?_all"] } }, ["HOME", "PATH"]],
    ["one that is set though it is excluded", { variables: { exclude: ["*"], set: { HOME: "/x" } } }, ["HOME"]],
    [
      "those alone that are included, of what is set too",
      { variables: { set: { B_ONE: "1", C: "2" }, includeOnly: ["b_*", "PATH"] } },
      ["B_ONE", "PATH"],
    ],
    ["no secret because it is included", { variables: { includeOnly: ["*KEY", "PATH"] } }, ["PATH"]],
    ["a secret that is set", { variables: { inherit: "none", set: { API_KEY: "given" } } }, ["API_KEY"]],
    [
      "names with signs of patterns in them, as they are",
      { env: { "A.B": "1", AxB: "2" }, variables: { exclude: ["a.b"] } },
      ["AxB"],
    ],
  ])("are %s", async (_, options, expected) => {
    expect(await names(options)).toEqual([...expected, "SHEDKIT_AGENT"].sort());
  });

  it("are those of the settings, where these set what keeps programs from asking; the mark of an agent stays", async () => {
    const set = { PAGER: "less", SHEDKIT_AGENT: "no", SHEDKIT_COMMAND: "echo evil", PYTHONUNBUFFERED: "0" };
    const text = await run({ variables: { set } }, "echo $PAGER $SHEDKIT_AGENT $PYTHONUNBUFFERED $SHEDKIT_COMMAND");
    expect(text).toBe("less 1 0\n");
  });

  it("stay away for the commands that follow", async () => {
    const terminal = await terminalIn({ env: ENV, variables: { exclude: ["AWS_*"] } });
    const bash = bashTool(terminal);
    await bash.call({ command: "X=1; f() { :; }", description: "" });
    expect(await bash.call({ command: "echo $X; env | grep -c 'AWS_\\|API_KEY'", description: "" })).toMatchObject({
      output_text: "1\n0\n",
    });
  });

  it("are inherited in no way that is not known", async () => {
    const cwd = await tempFolder();
    expect(() => new NodeTerminal({ cwd, variables: { inherit: "None" as never } })).toThrow(
      'variables.inherit is the string "None". It can be all, core, none.',
    );
  });
});

describe("git", () => {
  it("does not believe files that make a folder a repository, where it only comes across them", async () => {
    const cwd = await tempFolder();
    const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${cwd}\n\tfsmonitor = "touch ${cwd}/RAN; false"\n`;
    await Promise.all(["objects", "refs"].map((name) => mkdir(join(cwd, name))));
    await writeFile(join(cwd, "HEAD"), "ref: refs/heads/main\n");
    await writeFile(join(cwd, "config"), config);
    const status = "git status > log 2>&1; echo $?; ls RAN 2> log2";
    for (const variables of [undefined, { includeOnly: ["PATH"] }, { set: { GIT_CONFIG_COUNT: "" } }])
      expect(await run({ cwd, variables }, status)).toBe("128\n");
    expect(await run({ cwd }, "git --git-dir=. rev-parse --git-dir")).toBe(".\n"); // where it is told to
    expect(await run({ cwd: join(cwd, "refs") }, "cd ..; git status 2>&1 | grep -c bareRepository")).toBe("1\n");
  });

  it("has the settings of its variables besides", async () => {
    const env = { ...ENV, GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "Me Too" };
    const get = "git config user.name; git config safe.bareRepository";
    expect(await run({ env }, get)).toBe("Me Too\nexplicit\n");
    expect(await run({ env, variables: { inherit: "core" } }, get)).toBe("explicit\n");
    expect(await run({ env: { ...env, GIT_CONFIG_COUNT: "one" } }, get)).toBe("explicit\n");
  });
});

describe("what is hidden of an output", () => {
  const shown = (env: { [name: string]: string }, options: NodeTerminalOptions, text: string) =>
    run({ env: { PATH: process.env.PATH ?? "", ...env }, ...options }, `cat <<'E'\n${text}\nE`);

  it("are secrets that commands do not see, however they are kept from them", async () => {
    const env = { API_KEY: "sk-0123456789", DB_URL: "pg://me:pw@host/db" };
    for (const variables of [{}, { inherit: "none" as const }, { exclude: ["*"] }, { includeOnly: ["PATH"] }])
      expect(await shown(env, { variables }, "a sk-0123456789 b pg://me:pw@host/db c")).toBe(
        "a [hidden] b [hidden] c\n",
      );
  });

  it("is no other variable that was left out", async () => {
    expect(await shown({ AWS_REGION: "eu-west-1" }, { variables: { exclude: ["AWS_*"] } }, "eu-west-1")).toBe(
      "eu-west-1\n",
    );
  });

  it("is nothing that commands see, by another name or in its own", async () => {
    const env = { API_KEY: "sk-0123456789" };
    expect(await shown(env, { keepVariables: ["API_KEY"] }, "sk-0123456789")).toBe("sk-0123456789\n");
    expect(await shown(env, { variables: { set: { MINE: env.API_KEY } } }, "sk-0123456789")).toBe("sk-0123456789\n");
  });

  it("is no plain word and no number, which would be missed elsewhere", async () => {
    const env = { DB_PASSWORD: "password", PG_PASSWORD: "POSTGRES", KEY_LIFETIME: "86400000" };
    expect(await shown(env, {}, "password: POSTGRES 86400000")).toBe("password: POSTGRES 86400000\n");
    expect(await shown({ A_PASSWORD: "pass-word", B_KEY: "a".repeat(16) }, {}, `pass-word ${"a".repeat(16)}`)).toBe(
      "[hidden] [hidden]\n",
    );
  });
});

describe("a shell that reads commands otherwise", () => {
  it.each(["/bin/zsh", "/usr/bin/fish", "/bin/tcsh", "pwsh", "/bin/zsh-5.9"])("is refused: %s", async (shell) => {
    const cwd = await tempFolder();
    expect(() => new NodeTerminal({ cwd, shell })).toThrow(
      /reads commands otherwise than bash and sh do.* Use bash or sh\.$/,
    );
  });
});
