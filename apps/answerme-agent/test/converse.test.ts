import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { RouterMix } from "@shedkit/harness";
import { Gate, type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { AgenticError, textOfContent } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { type Conversation, completion, converse } from "../src/converse.js";
import { Interrupts } from "../src/interrupts.js";
import type { ModelChoice } from "../src/model-choice.js";
import { Prompt } from "../src/prompt.js";
import { Shelf } from "../src/shelf.js";
import { TextRenderer } from "../src/text-renderer.js";
import { fakeTerminal } from "./fake-terminal.js";
import { temporaryFolder } from "./program.js";

/** A conversation with a scripted model in a folder of its own; `type` types a line once the prompt is there. */
async function talk(
  answers: readonly ScriptedAnswer[],
  others: { [model: string]: ScriptedProvider } = {},
  given: Partial<Conversation> = {},
) {
  const folder = await temporaryFolder();
  await writeFile(path.join(folder.path, "config.ini"), "port=8417\n");
  const provider = new ScriptedProvider(answers);
  const choose = (model: string): ModelChoice => ({
    notice: { model, text: `Model: ${model}` },
    config: {},
    files: {},
    preset: async () => new RouterMix().primary(others[model] ?? provider, model).build(),
  });
  const shelf = await Shelf.open(path.join(folder.path, "home", "sessions.db"));
  const { docStore, memoryStore } = shelf;
  const { terminal, written, says } = fakeTerminal(false);
  const input = new PassThrough();
  const prompt = new Prompt({ input, output: terminal.out, complete: completion(folder.path) });
  const renderer = new TextRenderer(terminal, { now: () => 0 });
  let left = false;
  const interrupts = new Interrupts(() => {
    left = true;
  });
  const ended = converse({
    prompt,
    renderer,
    interrupts,
    choice: choose("scripted"),
    choose,
    root: folder.path,
    permission: "ask",
    keeping: { shelf, place: { docStore, memoryStore } },
    debug: false,
    ...given,
  });
  return {
    provider,
    input,
    written,
    says,
    ended,
    folder: folder.path,
    left: () => left,
    type: async (line: string, after = "> ") => {
      await says(after);
      input.write(`${line}\n`);
    },
    leave: async () => {
      await says("> ");
      input.end();
      return ended;
    },
    async [Symbol.asyncDispose]() {
      input.end();
      await ended.catch(() => {});
      interrupts[Symbol.dispose]();
      await shelf.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const asked = (provider: ScriptedProvider, request: number) =>
  provider.requests[request]?.messages.map((message) =>
    message.type === "user" ? textOfContent(message.content) : "",
  );

const failure = new AgenticError("generation", "The server is down.", {
  kind: "server",
  provider: "scripted",
  model: "scripted",
});

describe("the prompt", () => {
  it("keeps the session going from question to question", async () => {
    await using t = await talk(["Hello.", "I said hello."]);
    await t.type("Hi");
    await t.says("Hello.\n");
    await t.type("What did you say?");
    await t.says("I said hello.\n");
    expect(await t.leave()).toBe(0);
    expect(asked(t.provider, 1)).toEqual(["Hi", "", "What did you say?"]);
  });

  it("asks nothing for an empty line", async () => {
    await using t = await talk(["Hello."]);
    await t.type("");
    await t.type("   ");
    await t.type("Hi");
    await t.says("Hello.\n");
    expect(t.provider.requests).toHaveLength(1);
  });

  it("takes pasted lines, and lines that end in a backslash, as one question", async () => {
    await using t = await talk(["Yes.", "Yes."]);
    await t.type("one\ntwo");
    await t.type("three \\");
    await t.type("four", "... ");
    await t.leave();
    expect(asked(t.provider, 0)).toEqual(["one\ntwo"]);
    expect(asked(t.provider, 1)?.at(-1)).toBe("three \nfour");
  });

  it("sends a file along that the question refers to", async () => {
    await using t = await talk(["8417"]);
    await t.type("What is the port in @config.ini, and who is @nobody?");
    await t.leave();
    expect(asked(t.provider, 0)).toEqual([
      "What is the port in @config.ini, and who is @nobody?\n\nThe file config.ini:\nport=8417\n",
    ]);
  });

  it("sends an image along that the question refers to", async () => {
    await using t = await talk(["A dot."]);
    await writeFile(path.join(t.folder, "dot.png"), Buffer.from("iVBORw0KGgo=", "base64"));
    await t.type("What is in @dot.png?");
    await t.leave();
    const [message] = t.provider.requests[0]?.messages ?? [];
    expect(message).toMatchObject({
      content: [
        { type: "text", text: "What is in @dot.png?" },
        { type: "image", mediaType: "image/png", name: "dot.png", source: { type: "base64", data: "iVBORw0KGgo=" } },
      ],
    });
  });

  it("refuses to send along what is neither text nor image", async () => {
    await using t = await talk([]);
    await writeFile(path.join(t.folder, "data.bin"), Buffer.from([0xff, 0xfe, 0x00]));
    await t.type("What is in @data.bin?");
    await t.says("answerme-agent: @data.bin is neither UTF-8 text nor");
    expect(t.provider.requests).toHaveLength(0);
  });

  it("goes on after a turn that failed", async () => {
    await using t = await talk([{ fail: failure }, "Better."]);
    await t.type("Hi");
    await t.says("answerme-agent: The server is down.\n");
    await t.type("Again?");
    await t.says("Better.\n");
    expect(await t.leave()).toBe(0);
  });

  it("stops the turn at ctrl-C and goes on", async () => {
    const gate = new Gate();
    await using t = await talk([[{ wait: gate }], "Back."]);
    await t.type("Hi");
    await gate.reached;
    process.emit("SIGINT");
    await t.says("stopped\n");
    expect(t.left()).toBe(false);
    await t.type("Still there?");
    await t.says("Back.\n");
  });
});

describe("what is typed while the model works", () => {
  it("goes to the model at once", async () => {
    const gate = new Gate();
    await using t = await talk([["Let me", { wait: gate }], "Quickly: yes."]);
    await t.type("Think about it");
    await gate.reached;
    t.input.write("Be quick\n");
    await t.says("Quickly: yes.\n");
    expect(asked(t.provider, 1)?.at(-1)).toBe("Be quick");
    await t.type("/cost");
    await t.says("1 question:");
  });

  it("answers what is asked meanwhile, and is a message again after that", async () => {
    const gate = new Gate();
    const write = { call: "write", arguments: { path: "a.txt", content: "one\n" } };
    await using t = await talk([[write], [write], [{ wait: gate }], "Stopped."]);
    await t.type("Write it");
    await t.type("y", "say why not: ");
    await gate.reached;
    t.input.write("Enough\n");
    await t.says("Stopped.\n");
    expect(asked(t.provider, 3)?.at(-1)).toBe("Enough");
    expect(await readFile(path.join(t.folder, "a.txt"), "utf8")).toBe("one\n");
  });
});

describe("a session", () => {
  it("opens while the prompt is there already, and what there is to say of it comes after the first line", async () => {
    const gate = new Gate();
    const late: string[] = [];
    await using t = await talk(["Hello."], {}, { keeping: gate.wait().then(() => undefined), late });
    await t.says("> ");
    t.input.write("Hi\n");
    late.push("This session is not kept.");
    gate.open();
    await t.says("This session is not kept.\n");
    await t.says("Hello.\n");
    expect(await t.leave()).toBe(0);
  });

  it("that cannot be opened ends the prompt, with nothing typed", async () => {
    const gate = new Gate();
    const keeping = gate.wait().then(() => Promise.reject(new Error("no room")));
    await using t = await talk([], {}, { keeping });
    await t.says("> ");
    gate.open();
    await expect(t.ended).rejects.toThrow("no room");
  });
});

describe("a change to a file", () => {
  const write = (content: string) => [{ call: "write", arguments: { path: "a.txt", content } }];

  it("is shown, and made once it is allowed", async () => {
    await using t = await talk([write("one\n"), write("one\n"), "Done."]);
    await t.type("Write it");
    await t.says("+ one");
    await t.type("y", "say why not: ");
    await t.says("Done.\n");
    expect(await readFile(path.join(t.folder, "a.txt"), "utf8")).toBe("one\n");
  });

  it("is not made where it is refused, and the model hears why", async () => {
    await using t = await talk([write("one\n"), write("one\n"), "As you like."]);
    await t.type("Write it");
    await t.type("not in this folder", "say why not: ");
    await t.says("As you like.\n");
    await expect(readFile(path.join(t.folder, "a.txt"))).rejects.toThrow("ENOENT");
    expect(JSON.stringify(t.provider.requests.at(-1)?.messages)).toContain("not in this folder");
  });

  it("is asked about once where it is allowed for the session", async () => {
    await using t = await talk([write("one\n"), write("one\n"), write("two\n"), "Done."]);
    await t.type("Write it twice");
    await t.type("a", "say why not: ");
    await t.says("Done.\n");
    expect(await readFile(path.join(t.folder, "a.txt"), "utf8")).toBe("two\n");
  });
});

describe("a question of the model", () => {
  const questions = [
    {
      question: "Which port?",
      options: [
        { label: "8080", description: "as before" },
        { label: "9090", preview: "port: 9090\nhost: any" },
      ],
    },
    {
      question: "Which files?",
      options: [{ label: "main" }, { label: "tests" }, { label: "docs" }],
      multi_select: true,
    },
    { question: "What name?" },
    { question: "Anything else?" },
  ];

  it("is asked with its options, and the answers go back", async () => {
    const call = { call: "ask_user", arguments: { questions } };
    await using t = await talk([[call], [call], "Thanks."]);
    await t.type("Set it up");
    await t.says("Which port?\n  a  8080: as before\n  b  9090\n       port: 9090\n       host: any\n");
    await t.type("b", "in your own words: ");
    await t.says("  3  docs\n");
    await t.type("1, Docs", "in your own words: ");
    await t.type("Anna", "Your answer: ");
    await t.type("", "Your answer: ");
    await t.says("Thanks.\n");
    const result = t.provider.requests[2]?.messages.findLast(({ type }) => type === "toolResult");
    expect(result && "content" in result && textOfContent(result.content)).toBe(
      "Which port?\n-> 9090\n\nWhich files?\n-> main; docs\n\nWhat name?\n-> Anna\n\nAnything else?\n-> (no answer)\n\n" +
        "Decide yourself what was not answered, and say so.",
    );
  });

  it("shows a plan, which is carried out once somebody agrees, with what was said to it", async () => {
    const enter = { call: "enter_plan", arguments: {} };
    const plan = { call: "exit_plan", arguments: { plan: "1. Look\n2. Leap" } };
    await using t = await talk([[enter], [enter], [plan], [plan], [plan], "Done."]);
    await t.type("Plan it");
    await t.says("2. Leap\n");
    await t.type("look twice", "say what to change: ");
    await t.type("yes, slowly", "say what to change: ");
    await t.says("Done.\n");
    expect(JSON.stringify(t.provider.requests[4]?.messages)).toContain("the user said: look twice");
    expect(JSON.stringify(t.provider.requests[5]?.messages)).toContain("The user says: slowly");
  });
});

describe("what begins with a slash", () => {
  it.each([
    ["/help", "/export FILE"],
    ["/model", "Model: scripted"],
    ["/tools", "those with a star"],
    ["/shed read a file", "read   "],
    ["/cost", "0 questions: 0 tokens in, 0 out\nThe whole session, its memory included: 0 tokens in, 0 out"],
    ["/resume", "Say which: /resume ID"],
    ["/nonsense", "There is no /nonsense. /help"],
  ])("%s", async (line, text) => {
    await using t = await talk([]);
    await t.type(line);
    await t.says(text);
  });

  it("typed in place of leave is no reason: it is asked again", async () => {
    const write = { call: "write", arguments: { path: "a.txt", content: "one\n" } };
    await using t = await talk([[write], [write], "Not written."]);
    await t.type("Write it");
    await t.type("/help", "say why not: ");
    await t.says("Answer first");
    await t.type("/etc is no place for it", "say why not: ");
    await t.says("Not written.\n");
    expect(t.written.both).toContain("is not permitted: the user said: /etc is no place for it");
  });

  it("goes on with another model, which hears all that was said", async () => {
    const other = new ScriptedProvider(["You said hi."]);
    await using t = await talk(["Hello.", "Back again."], { other });
    await t.type("Hi");
    await t.says("Hello.\n");
    await t.type("/model other");
    await t.says("Model: other\n");
    await t.type("What did I say?");
    await t.says("You said hi.\n");
    expect(asked(other, 0)).toEqual(["Hi", "", "What did I say?"]);
    await t.type("/model scripted");
    await t.type("And now?");
    await t.says("Back again.\n");
    expect(asked(t.provider, 1)).toHaveLength(5);
  });

  it("stays where another model is not there, so that one can go back", async () => {
    const gone = new AgenticError("provider", "There is no such model.", { problem: "repoNotFound" });
    const other = new ScriptedProvider([[{ fail: gone }]]);
    await using t = await talk(["Hello.", "Hello again."], { other });
    await t.type("Hi");
    await t.says("Hello.\n");
    await t.type("/model other");
    await t.type("Hi");
    await t.says("There is no such model.\n");
    await t.type("/model scripted");
    await t.type("Hi");
    await t.says("Hello again.\n");
    expect(await t.leave()).toBe(0);
  });

  it("goes on in a copy, and back in the original", async () => {
    await using t = await talk(["One.", "Two.", "Three."]);
    await t.type("First");
    await t.says("One.\n");
    await t.type("/fork");
    await t.says("This is a copy now, ");
    await t.type("Second");
    await t.says("Two.\n");
    expect(asked(t.provider, 1)).toEqual(["First", "", "Second"]);
    await t.type("/sessions");
    await t.says("First\n");
    await t.says("First\n");
    const ids = [...t.written.err.matchAll(/^([0-9a-z]{26}) /gm)].map(([, id]) => id);
    expect(ids).toHaveLength(2);
    await t.type(`/resume ${ids[1]}`);
    await t.says("Going on with");
    await t.type("Third");
    await t.says("Three.\n");
    expect(asked(t.provider, 2)).toEqual(["First", "", "Third"]);
  });

  it("gives a session a title, and finds it by what was said", async () => {
    await using t = await talk(["One."]);
    await t.type("First");
    await t.says("One.\n");
    await t.type("/title The port of the server");
    await t.says('This session is "The port of the server" now.');
    await t.type("/sessions first");
    await t.says("The port of the server\n");
  });

  it("shows what is remembered, adds to it and takes away, and the model is told", async () => {
    await using t = await talk(["Noted."]);
    await t.type("/memory");
    await t.says("Nothing is remembered yet");
    await t.type("/memory add The port is 8417");
    await t.says("Remembered: The port is 8417");
    await t.type("/memory add Be brief");
    await t.type("/memory");
    await t.says("Facts:\n1  The port is 8417\n2  Be brief\n");
    await t.type("/memory remove 3");
    await t.says("There is no fact 3");
    await t.type("/memory remove 2");
    await t.says("Forgotten: Be brief");
    await t.type("/memory forget");
    await t.says("There is no /memory forget");
    await t.type("Hi");
    await t.says("Noted.\n");
    const request = JSON.stringify(t.provider.requests[0]?.messages);
    expect(request).toContain("The port is 8417");
    expect(request).not.toContain("Be brief");
  });

  it("says which sessions there are not", async () => {
    await using t = await talk([]);
    await t.type("/sessions");
    await t.says("There is none.");
    await t.type("/resume 01zz");
    await t.says('no session begins with "01zz"');
    await t.type("/resume");
    await t.says("Say which");
  });

  it("says why nothing can be compacted", async () => {
    await using t = await talk([]);
    await t.type("/compact");
    await t.says("cannot be made smaller");
  });

  it("leaves with /quit", async () => {
    await using t = await talk([]);
    await t.type("/quit");
    expect(await t.ended).toBe(0);
  });

  it("exports the conversation, over no other file", async () => {
    await using t = await talk([[{ call: "read", arguments: { path: "config.ini" } }], "The port is 8417."]);
    await t.type("What is the port?");
    await t.says("8417.\n");
    await t.type("/export talk.md");
    await t.says("Written to ");
    const text = await readFile(path.join(t.folder, "talk.md"), "utf8");
    expect(text).toMatch(/What is the port\?[\s\S]*config\.ini[\s\S]*The port is 8417\./);
    await t.type("/export talk.md");
    await t.says("is there already");
  });

  it("shows a call with all that it returned", async () => {
    const read = { call: "read", arguments: { path: "config.ini" } };
    await using t = await talk([[read], [read], "The port is 8417."]);
    await t.type("/calls");
    await t.says("No tool was called yet");
    await t.type("What is the port?");
    await t.says("8417.\n");
    await t.type("/calls");
    await t.says('1  read(path: "config.ini")\n2  read(path: "config.ini")\n');
    await t.type("/calls 1");
    await t.says("port=8417");
    await t.type("/calls 3");
    await t.says("There is no call 3");
  });

  it("is a question where it is a path", async () => {
    await using t = await talk(["A folder."]);
    await t.type("/etc/hosts is what?");
    await t.says("A folder.\n");
  });

  it("is completed, as files are", async () => {
    await using t = await talk([]);
    const complete = completion(t.folder);
    expect(await complete("/ex")).toEqual([["/export"], "/ex"]);
    expect(await complete("What is in @con")).toEqual([["@config.ini"], "@con"]);
    expect(await complete("mail@con")).toEqual([[], "mail@con"]);
    expect(await complete("@../")).toEqual([[], "@../"]);
  });
});
