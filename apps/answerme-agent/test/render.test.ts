import { stripVTControlCharacters } from "node:util";
import { AgenticError, noUsage } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { clipped } from "../src/columns.js";
import { JsonRenderer } from "../src/json-renderer.js";
import { bytes, ProgressBar } from "../src/progress.js";
import { printable } from "../src/terminal.js";
import { TextRenderer } from "../src/text-renderer.js";
import { toolCallLine, toolResultLine } from "../src/tool-line.js";
import { fakeTerminal } from "./fake-terminal.js";

const usage = { ...noUsage, input: 400, cacheRead: 100, output: 12, total: 512 };

describe("the text renderer", () => {
  it("writes the answer alone to standard output, the rest to standard error", () => {
    const { terminal, written } = fakeTerminal(false);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    renderer.model({ model: "m", text: "Model: m" });
    renderer.event({ type: "toolCall", id: "1", name: "read", arguments: { path: "config.ini", limit: 3 } });
    renderer.event({ type: "toolResult", toolCallId: "1", name: "read", content: [{ type: "text", text: "port=1" }] });
    renderer.event({ type: "text", delta: "The port" });
    renderer.event({ type: "text", delta: " is **1**." });
    renderer.event({ type: "done", summary: { messageCount: 4, usage } });
    expect(written.out).toBe("The port is **1**.\n");
    expect(written.err).toBe(
      'Model: m\n-> read(path: "config.ini", limit: 3)\n   = port=1\n500 tokens in (100 cached), 12 out, 1 tool call, 0.0 s\n',
    );
  });

  it("begins a line before a tool call that interrupts the text", () => {
    const { terminal, written } = fakeTerminal(false);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    renderer.event({ type: "text", delta: "Let me look." });
    renderer.event({ type: "toolCall", id: "1", name: "list", arguments: {} });
    expect(written.both).toBe("Let me look.\n-> list()\n");
  });

  it("says which tool failed and why", () => {
    const { terminal, written } = fakeTerminal(false);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    const content = [{ type: "text" as const, text: "No such file: x" }];
    renderer.event({ type: "toolResult", toolCallId: "1", name: "read", content, errorDetail: "No such file: x" });
    expect(written.err).toBe("   read failed: No such file: x\n");
  });

  it("says what a model's backend warns of, once", () => {
    const { terminal, written } = fakeTerminal(false);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    const warning = { type: "modelWarning", model: "m", tool: "read", message: "a pattern\nis left out" } as const;
    for (let turn = 0; turn < 2; turn++) renderer.event({ type: "progress", progress: warning });
    renderer.event({ type: "progress", progress: { type: "modelWarning", model: "m", message: "no seed" } });
    expect(written.both).toBe("m, read: a pattern is left out\nm: no seed\n");
  });

  it("lets neither an answer nor an argument drive the terminal", () => {
    const { terminal, written } = fakeTerminal(true);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    renderer.event({ type: "toolCall", id: "1", name: "read", arguments: { path: "\u001b]0;owned\u0007" } });
    renderer.event({ type: "text", delta: "a\u001b[2Jb \u202egnp.exe" });
    renderer.notice("a title \u001b[2J");
    expect(written.both).not.toContain("\u001b]0");
    expect(written.both).not.toContain("\u001b[2J");
    expect(written.both).not.toContain("\u202e"); // it would show what follows backwards
  });

  it("shows on a terminal how far a prompt is read, each anew, and nowhere else", () => {
    let now = 0;
    for (const isTerminal of [true, false]) {
      const { terminal, written } = fakeTerminal(isTerminal);
      const renderer = new TextRenderer(terminal, { now: () => now });
      const read = (tokensDone: number) => {
        renderer.event({ type: "progress", progress: { type: "evaluatingPrompt", tokensDone, tokensTotal: 3200 } });
        now += 1000;
      };
      for (const tokensDone of [0, 1600, 0, 3136]) read(tokensDone);
      renderer.event({ type: "text", delta: "Half a line" });
      read(64);
      renderer.event({ type: "done", summary: { messageCount: 2, usage } });
      if (!isTerminal) {
        expect(written.err).not.toContain("Reading");
        continue;
      }
      const bars = written.err.split("\r").filter((text) => text.includes("Reading"));
      expect(bars.map((bar) => stripVTControlCharacters(bar))).toEqual([
        expect.stringMatching(/^Reading the conversation \[\.+\] {3}0 % of 3,200 tokens$/),
        expect.stringMatching(/^Reading the conversation \[#+\.+\] {2}50 % of 3,200 tokens$/),
        expect.stringMatching(/^Reading the conversation \[\.+\] {3}0 % of 3,200 tokens$/), // of the next step
        expect.stringMatching(/^Reading the conversation \[#+\.+\] {2}98 % of 3,200 tokens$/),
      ]);
      expect(written.both).toContain("Half a line\n");
    }
  });

  it("writes no word on what goes on over half a line of the answer", () => {
    let now = 0;
    const { terminal, written } = fakeTerminal(true);
    const clock = () => {
      now += 1000;
      return now;
    };
    const renderer = new TextRenderer(terminal, { now: clock });
    renderer.event({ type: "text", delta: "Let me think" });
    renderer.event({ type: "thinking", delta: "hm" });
    renderer.event({ type: "progress", progress: { type: "toolCallRequested", name: "read" } });
    renderer.event({ type: "text", delta: " again.\n" });
    renderer.event({ type: "progress", progress: { type: "toolCallRequested", name: "read" } });
    renderer.event({ type: "toolCall", id: "1", name: "read", arguments: {} });
    const shown = stripVTControlCharacters(written.both);
    expect(shown).toContain("Let me think again.\n\rpreparing read ...");
    expect(shown).not.toContain("thinking");
  });

  it("follows a download on a terminal and takes the bar away before the answer", () => {
    let now = 0;
    const { terminal, written } = fakeTerminal(true);
    const renderer = new TextRenderer(terminal, { now: () => now });
    for (const bytesDone of [0, 500_000_000, 2_000_000_000]) {
      renderer.event({
        type: "progress",
        progress: {
          type: "loadingModel",
          what: "download",
          bytesDone,
          bytesTotal: 2_000_000_000,
          ...(bytesDone === 0 && { why: "Q2_K, on the CPU: it fits." }),
        },
      });
      now += 1000;
    }
    expect(written.err).toContain("  25 % of 2.0 GB");
    expect(written.err).toContain("Q2_K, on the CPU");
    expect(written.err).toContain(" 100 % of 2.0 GB");
    for (const drawn of written.err.split("\r")) expect(drawn.replace("\u001b[K", "").length).toBeLessThan(60);
    renderer.event({ type: "text", delta: "Hi" });
    expect(written.err.endsWith("\r\u001b[K")).toBe(true);
  });

  it("shows that the model thinks, on a terminal, until there is something to read", () => {
    let now = 0;
    const { terminal, written } = fakeTerminal(true);
    const renderer = new TextRenderer(terminal, { now: () => now });
    renderer.event({ type: "progress", progress: { type: "generating", model: "m" } });
    now += 1000;
    renderer.event({ type: "thinking", delta: "Hm, let me see" });
    renderer.event({ type: "text", delta: "Yes. " });
    expect(stripVTControlCharacters(written.both)).toBe(
      "\rwaiting for the model ...\rthinking ... (14 characters)\rYes.",
    );
    const piped = fakeTerminal(false);
    const quiet = new TextRenderer(piped.terminal, { now: () => now });
    quiet.event({ type: "thinking", delta: "Hm" });
    expect(piped.written.both).toBe("");
  });

  it("holds the last word back no longer than a moment", async () => {
    const { terminal, says } = fakeTerminal(true);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    renderer.event({ type: "text", delta: "Let me" });
    await says("Let me");
    renderer.event({ type: "text", delta: " see." });
    await says(" see.");
  });

  it("says what calls returned, in a line each, but for what the shed found", () => {
    const { terminal, written } = fakeTerminal(false);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    const result = (name: string, text: string) =>
      renderer.event({ type: "toolResult", toolCallId: "1", name, content: [{ type: "text", text }] });
    result("shed", "read: Reads a file.");
    result("read", "one\ntwo\n");
    result("bash", "done");
    result("bash", " \n");
    expect(written.err).toBe("   = 2 lines\n   = done\n   = nothing\n");
  });

  it("shows all of what is to be allowed, over several rows where it is long", () => {
    const { terminal, written } = fakeTerminal(true);
    const renderer = new TextRenderer(terminal, { now: () => 0 });
    const command = `echo ${"x".repeat(200)}; rm important`;
    renderer.change([{ sign: " ", text: command }]);
    expect(stripVTControlCharacters(written.err).replace(/\n? {3}/g, "")).toContain(command);
  });

  it("says once, in one line, what it loads where there is no terminal", () => {
    const { terminal, written } = fakeTerminal(false);
    const bar = new ProgressBar(terminal, () => 0);
    bar.update("Loading x", 0, 1_978_432);
    bar.update("Loading x", 1_978_432, 1_978_432);
    bar.clear();
    expect(written.both).toBe("Loading x (2.0 MB) ...\n");
  });
});

describe("the JSON renderer", () => {
  it("writes one object a line, errors as data", () => {
    const { terminal, written } = fakeTerminal(false);
    const renderer = new JsonRenderer(terminal);
    renderer.model({ model: "m", text: "Model: m" });
    renderer.event({ type: "text", delta: "two\nlines" });
    const call = { type: "toolCall", id: "1", name: "read", arguments: { path: "a" } } as const;
    const info = { version: 1, name: "read", kind: "read", namespace: "files", label: "Read", readOnly: true } as const;
    renderer.event(call, info);
    const error = new AgenticError("provider", "no such file", { problem: "fileNotFound" });
    renderer.event({ type: "failed", error, usage: noUsage });
    const lines = written.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { type: "start", model: "m", notice: "Model: m" },
      { type: "text", delta: "two\nlines" },
      { type: "toolCall", name: "read", info: { label: "Read" } },
      { type: "failed", error: { code: "provider", message: "no such file" }, usage: { total: 0 } },
    ]);
  });
});

describe("lines", () => {
  it("shows a call on one line, cut to the room there is", () => {
    expect(toolCallLine("write", { path: "a.txt", content: "one\ntwo" }, 200)).toBe(
      'write(path: "a.txt", content: "one\\ntwo")',
    );
    expect(toolCallLine("write", { content: "x".repeat(500) }, 40)).toHaveLength(40);
    expect(toolCallLine("list", undefined, 40)).toBe("list()");
  });

  it("says how much a call returned", () => {
    expect(toolResultLine([{ type: "text", text: "a\nb\n" }], undefined, 80)).toBe("2 lines");
    expect(toolResultLine([{ type: "text", text: "only this" }], undefined, 80)).toBe("only this");
  });

  it("cuts between code points, never inside one", () => {
    expect(clipped("a😀b😀c😀", 6)).toBe("a😀...");
    expect(clipped("short", 5)).toBe("short");
  });

  it("makes control characters visible and drops carriage returns", () => {
    expect(printable("a\u0007b\r\n\tc")).toBe("a\ufffdb\n\tc");
  });

  it("names sizes for people", () => {
    expect([0, 999, 1000, 1_978_432, 4_560_000_000].map(bytes)).toEqual(["0 B", "999 B", "1.0 kB", "2.0 MB", "4.6 GB"]);
  });
});
