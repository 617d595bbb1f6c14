import { describe, expect, it } from "vitest";
import { parseCommand } from "../src/args.js";
import { UsageError } from "../src/exit.js";

const options = (...args: string[]) => {
  const command = parseCommand(args);
  if (command.type !== "run") throw new Error(command.type);
  return command.options;
};

describe("the command line", () => {
  it("takes the question as one argument or as several", () => {
    expect(options("What is here?").question).toBe("What is here?");
    expect(options("What", "is", "here?").question).toBe("What is here?");
    expect(options().question).toBeUndefined();
  });

  it("takes options before, after and between", () => {
    expect(options("--root", "a", "why?", "--model=owner/repo:Q4_K_M", "--json", "--debug", "-y")).toEqual({
      question: "why?",
      root: "a",
      model: "owner/repo:Q4_K_M",
      yes: true,
      readOnly: false,
      print: false,
      continue: false,
      noKeep: false,
      json: true,
      debug: true,
    });
  });

  it("takes a provider with its model, or alone for the one it has", () => {
    expect(options("--provider", "openai", "--model", "gpt-5-mini", "x").model).toBe("openai:gpt-5-mini");
    expect(options("--provider", "anthropic", "x").model).toBe("anthropic:");
    expect(options("--provider", "local", "--model", "a/b:Q8_0", "x").model).toBe("local:a/b:Q8_0");
  });

  it("takes --resume with an id, or alone", () => {
    expect(options("--resume", "01M8").resume).toBe("01M8");
    expect(options("--resume").resume).toBe("");
    expect(options("--resume", "--yes")).toMatchObject({ resume: "", yes: true });
    expect(options("--resume", "What is here?")).toMatchObject({ resume: "", question: "What is here?" });
    expect(options("--", "--resume").question).toBe("--resume");
    expect(() => parseCommand(["--all", "why"])).toThrow("--all belongs to answerme-agent sessions");
  });

  it("takes a question that begins with a dash after --", () => {
    expect(options("--", "-x means what?").question).toBe("-x means what?");
  });

  it.each(["config", "doctor", "sessions"])("takes the word %s after -- for a question", (word) => {
    expect(options("--json", "--", word)).toMatchObject({ question: word, json: true });
    expect(options("--", word, "--debug")).toMatchObject({ question: `${word} --debug`, debug: false });
  });

  it("takes the word config or doctor alone for the command, among others for a question", () => {
    expect(parseCommand(["doctor"])).toMatchObject({ type: "doctor" });
    expect(parseCommand(["config", "--root", "a"])).toMatchObject({ type: "config", options: { root: "a" } });
    expect(parseCommand(["config", "files?"])).toMatchObject({ type: "run", options: { question: "config files?" } });
  });

  it("takes sessions, words to look for, or one to delete", () => {
    expect(parseCommand(["sessions", "title", "01h", "The", "port"])).toMatchObject({
      type: "sessions",
      title: { id: "01h", text: "The port" },
    });
    expect(parseCommand(["sessions"])).toMatchObject({ type: "sessions", words: "" });
    expect(parseCommand(["sessions", "harbour", "master"])).toMatchObject({
      type: "sessions",
      words: "harbour master",
    });
    expect(parseCommand(["sessions", "delete", "01ab"])).toMatchObject({ type: "sessions", delete: "01ab" });
  });

  it.each([["--help"], ["-h"]])("%s asks for help", (option) => {
    expect(parseCommand([option])).toEqual({ type: "help" });
  });

  it.each([["--version"], ["-v"]])("%s asks for the version", (option) => {
    expect(parseCommand([option])).toEqual({ type: "version" });
  });

  it.each([
    [["--mdoel", "x"], "unknown option --mdoel; did you mean --model?"],
    [["--frobnicate=1"], "unknown option --frobnicate; see --help"],
    [["-x"], "unknown option -x; see --help"],
    [["--model"], "--model needs a value"],
    [["--model", "--json"], "--model needs a value"],
    [["--model="], "--model is empty"],
    [["--root", " "], "--root is empty"],
    [["--json=1"], "--json takes no value"],
    [
      ["--provider", "opnai", "x"],
      'there is no provider "opnai"; name one of anthropic, openai, openai-responses, local',
    ],
    [["--yes", "--read-only", "x"], "--yes and --read-only exclude each other"],
    [["--print", "--json", "x"], "--print and --json exclude each other"],
    [["--continue", "--resume", "01"], "--continue and --resume exclude each other"],
    [[""], "the question is empty"],
    [["  ", " "], "the question is empty"],
  ])("refuses %j in one line", (args, message) => {
    let error: unknown;
    try {
      parseCommand(args);
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain("\n");
  });
});
