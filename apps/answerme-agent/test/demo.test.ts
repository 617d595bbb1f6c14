import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { run, temporaryFolder, tour } from "./program.js";

const ask = (question: string, ...args: string[]) => run(["--root", tour, ...args, question]);

describe("the demonstration model on the tour", () => {
  it.each([
    ["What is the port in config.ini?", "8417", "config.ini"],
    ["What is the version in package.json?", "2.4.1", "package.json"],
    ["What is the first heading of README.md?", "Lantern", "README.md"],
    ["What is REGION in .env?", "north", ".env"],
    ["What is the first line of notes.txt?", "Call the harbour master", "notes.txt"],
  ])("%s", async (question, answer, file) => {
    const { code, stdout, stderr } = await ask(question);
    expect(stdout).toContain(answer);
    expect(code).toBe(0);
    const lines = stderr.split("\n");
    expect(lines[0]).toMatch(/^Model: shed-demo, .*demonstration.*often wrong.*--model/);
    expect(stderr).toMatch(/-> shed\(description: ".+", limit: 1\)\n/);
    expect(stderr).toMatch(new RegExp(`-> (search_file|read)\\(.*"${file.replaceAll(".", "\\.")}".*\\)\n`));
    expect(stderr).toMatch(/\d+ tokens in .*\d+ out, 2 tool calls, [\d.]+ s\n$/);
  });

  it("lists files without being permitted to, since that changes nothing", async () => {
    const { code, stdout, stderr } = await ask("List the files here.");
    expect(stderr).toContain("-> list(depth: 1)\n");
    expect(stdout).toContain("config.ini"); // of longer lists it often leaves something out
    expect(code).toBe(0);
  });

  it("counts and calculates through the shell, where that is permitted", async () => {
    const { code, stdout, stderr } = await ask("What is 128 * 47?", "--yes");
    expect(stdout).toContain("6016");
    expect(stderr).toContain("-> bash(command: \"awk 'BEGIN {print 128 * 47}'\"");
    expect(code).toBe(0);
    const refused = await ask("What is 128 * 47?");
    expect(refused.stderr).toMatch(
      /answerme-agent: bash was not permitted, since nobody could be asked; --yes permits it\n$/,
    );
    expect(refused.stdout).not.toContain("6016");
    expect(refused.code).toBe(4);
  });

  it("says that it cannot find what is not there", async () => {
    const { code, stdout } = await ask("What is the password in config.ini?");
    expect(stdout).toMatch(/could not find/);
    expect(code).toBe(0);
  });

  it("reads a file that is referred to, and does not get it along", async () => {
    for (const question of ["@notes.txt what is the first line?", 'What is the first line of @"notes.txt"?']) {
      const { code, stdout, stderr } = await ask(question);
      expect(stdout).toBe("The first line is: Call the harbour master\n");
      expect(stderr).toContain('-> read(path: "notes.txt", limit: 1)\n');
      expect(code).toBe(0);
    }
  });

  it("shows its first line, and the first of the answer, soon", async () => {
    const { stdout, firstErr = Number.NaN, firstOut = Number.NaN } = await ask("What is the port in config.ini?");
    console.log(`first line after ${Math.round(firstErr)} ms, first of the answer after ${Math.round(firstOut)} ms`);
    expect(stdout).not.toBe("");
  });

  it("takes the question from a pipe", async () => {
    const { code, stdout } = await run(["--root", tour], { stdin: "What is the port in config.ini?\n" });
    expect(stdout).toContain("8417");
    expect(code).toBe(0);
  });

  it("prints the answer and nothing else with --print, but for what the model is", async () => {
    const { stdout, stderr } = await ask("What is the port in config.ini?", "--print");
    expect(stdout).toBe("The port is 8417.\n");
    expect(stderr).toMatch(/^Model: shed-demo, [^\n]+\n$/);
  });

  it("changes no file where nobody can be asked, and says what would let it", async () => {
    await using folder = await temporaryFolder();
    const { code, stderr } = await run(["--root", folder.path, "Write hello to greet.txt"]);
    expect(stderr).toMatch(/answerme-agent: write was not permitted, since nobody could be asked; --yes permits it\n$/);
    expect(code).toBe(4);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("changes files with --yes", async () => {
    await using folder = await temporaryFolder();
    const { code } = await run(["--root", folder.path, "--yes", "Write hello to greet.txt"]);
    expect(code).toBe(0);
    expect(await readFile(path.join(folder.path, "greet.txt"), "utf8")).toBe("hello");
  });

  it("prints events as JSON lines", async () => {
    const { code, stdout } = await ask("What is the port in config.ini?", "--json");
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ type: "start", model: "shed-demo" });
    const calls = events.filter((event) => event.type === "toolCall");
    expect(calls.map((call) => call.name)).toEqual(["shed", "search_file"]);
    expect(events.filter((event) => event.type === "toolResult").map((result) => result.toolCallId)).toEqual(
      calls.map((call) => call.id),
    );
    const text = events.filter((event) => event.type === "text").map((event) => event.delta);
    expect(text.join("")).toContain("8417");
    expect(events.at(-1)).toMatchObject({ type: "done", summary: { usage: { total: expect.any(Number) } } });
    expect(code).toBe(0);
  });
});
