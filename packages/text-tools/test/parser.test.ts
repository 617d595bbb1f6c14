import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hermes, type ParserOptions, type TextEvent } from "../src/index.js";

/** What an answer says in all, neighbouring pieces joined. */
function read(pieces: readonly string[], options?: ParserOptions): TextEvent[] {
  const parser = hermes.parser(options);
  const events = [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
  const joined: TextEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (event.type === "text" && last?.type === "text") last.text += event.text;
    else if (event.type === "thinking" && last?.type === "thinking") last.text += event.text;
    else if (event.type === "callDelta" && last?.type === "callDelta") last.json += event.json;
    else joined.push({ ...event });
  }
  return joined;
}

const calls = (answer: string) => read([answer]).filter((event) => event.type === "call");
const finished = (answer: string, options?: ParserOptions) =>
  read([answer], options).filter((event) => event.type !== "callStart" && event.type !== "callDelta");

describe("answers with calls", () => {
  it("reads text, then several calls", () => {
    expect(
      read([
        'I look.\n<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>\n' +
          '<tool_call>\n{"name": "list", "arguments": {}}\n</tool_call>',
      ]),
    ).toEqual([
      { type: "text", text: "I look." },
      { type: "callStart", name: "read" },
      { type: "callDelta", json: '{"path": "a"}' },
      { type: "call", name: "read", arguments: { path: "a" } },
      { type: "callStart", name: "list" },
      { type: "callDelta", json: "{}" },
      { type: "call", name: "list", arguments: {} },
    ]);
  });

  it("shows the arguments while they come", () => {
    const parser = hermes.parser();
    expect(parser.push('<tool_call>{"name": "write", "argu')).toEqual([]);
    expect(parser.push('ments": {"content": "one')).toEqual([
      { type: "callStart", name: "write" },
      { type: "callDelta", json: '{"content": "one' },
    ]);
    expect(parser.push(" two")).toEqual([{ type: "callDelta", json: " two" }]);
  });

  it.each([
    ["no closing tag at the end", '<tool_call>\n{"name": "a", "arguments": {"x": 1}}'],
    ["half a closing tag at the end", '<tool_call>\n{"name": "a", "arguments": {"x": 1}}\n</tool_'],
    ["a bracket too many", '<tool_call>\n{"name": "a", "arguments": {"x": 1}}}\n</tool_call>'],
    ["arguments as a JSON string", String.raw`<tool_call>{"name": "a", "arguments": "{\"x\": 1}"}</tool_call>`],
    ["parameters instead of arguments", '<tool_call>{"name": "a", "parameters": {"x": 1}}</tool_call>'],
    ["arguments before the name", '<tool_call>{"arguments": {"x": 1}, "name": "a"}</tool_call>'],
    ["arguments beside the name", '<tool_call>{"name": "a", "x": 1}</tool_call>'],
    ["a list of calls", '<tool_call>[{"name": "a", "arguments": {"x": 1}}]</tool_call>'],
  ])("accepts %s", (_, answer) => {
    expect(calls(answer)).toEqual([{ type: "call", name: "a", arguments: { x: 1 } }]);
  });

  it("begins the next call where the closing tag of the first is missing", () => {
    const answer = '<tool_call>{"name": "a", "arguments": {}}\n<tool_call>{"name": "b", "arguments": {}}</tool_call>';
    expect(calls(answer).map((call) => call.type === "call" && call.name)).toEqual(["a", "b"]);
  });

  it("takes missing arguments as none", () => {
    expect(calls('<tool_call>{"name": "a"}</tool_call>')).toEqual([{ type: "call", name: "a", arguments: {} }]);
    expect(calls('<tool_call>{"name": "a", "arguments": null}</tool_call>')).toHaveLength(1);
  });

  it("does not take a tag inside a string for the end", () => {
    const args = { content: "</tool_call> <tool_call> }" };
    expect(calls(`<tool_call>${JSON.stringify({ name: "write", arguments: args })}</tool_call>`)).toEqual([
      { type: "call", name: "write", arguments: args },
    ]);
  });

  it("keeps arguments that are no object, or would be rounded, as they came", () => {
    expect(calls('<tool_call>{"name": "a", "arguments": [1]}</tool_call>')).toMatchObject([{ rawArguments: "[1]" }]);
    const big = '{"id": 12345678901234567890}';
    expect(calls(`<tool_call>{"name": "a", "arguments": ${big}}</tool_call>`)).toMatchObject([{ rawArguments: big }]);
  });

  it("keeps a call that broke off, with what came of its arguments", () => {
    expect(calls('<tool_call>{"name": "write", "arguments": {"content": "half')).toEqual([
      { type: "call", name: "write", rawArguments: '{"content": "half' },
    ]);
  });

  it("finds what follows a call whose quotes do not match", () => {
    const answer = '<tool_call>{"name": "a", "arguments": {"x": "1}}</tool_call>\nDone.';
    expect(finished(answer)).toEqual([
      { type: "call", name: "a", rawArguments: '{"x": "1}}' },
      { type: "text", text: "Done." },
    ]);
  });

  it("leaves what is no call as text", () => {
    expect(finished("<tool_call>nonsense</tool_call>")).toEqual([
      { type: "text", text: "<tool_call>nonsense</tool_call>" },
    ]);
    expect(finished("a < b, <tool> and <tool_cal")).toEqual([{ type: "text", text: "a < b, <tool> and <tool_cal" }]);
  });
});

describe("thinking", () => {
  it("is told from the text", () => {
    expect(finished("<think>\nHm.\n</think>\n\nYes.")).toEqual([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "Yes." },
    ]);
  });

  it("may be open from the start", () => {
    expect(finished("Hm.\n</think>\nYes.", { prompt: "<think>\n" })).toEqual([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "Yes." },
    ]);
  });

  it("hides calls, unless nothing follows it", () => {
    const call = '<tool_call>{"name": "a", "arguments": {}}</tool_call>';
    expect(finished(`<think>Perhaps ${call}?</think>No.`).map((event) => event.type)).toEqual(["thinking", "text"]);
    expect(finished(`<think>I do ${call}`).at(-1)).toEqual({ type: "call", name: "a", arguments: {} });
  });

  it("counts only at the start of an answer", () => {
    expect(finished("The tag <think> is old.")).toEqual([{ type: "text", text: "The tag <think> is old." }]);
  });
});

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      "<tool_call>",
      "</tool_call>",
      "<think>",
      "</think>",
      '\n{"name": "read", "arguments": {"path": "a b"}}\n',
      '{"name": "x", "arguments": "{}"}',
      '{"name"',
      '"arguments": {',
      "}",
      '"',
      "\\",
      "<",
      "\n\n",
      " ",
    ),
    fc.string({ unit: "grapheme", maxLength: 8 }),
  ),
  { maxLength: 12 },
);

it("says the same however the answer is cut", () => {
  fc.assert(
    fc.property(
      pieces,
      fc.array(fc.nat(200), { maxLength: 20 }),
      fc.constantFrom("", "<think>\n"),
      (parts, cuts, prompt) => {
        const answer = parts.join("");
        const at = [0, ...cuts.map((cut) => cut % (answer.length + 1)).sort((a, b) => a - b), answer.length];
        const cut = at.slice(1).map((end, i) => answer.slice(at[i], end));
        expect(read(cut, { prompt })).toEqual(read([answer], { prompt }));
        expect(read([...answer], { prompt })).toEqual(read([answer], { prompt }));
      },
    ),
    { numRuns: 500 },
  );
});

it("gives back every text that holds no mark, but for the space around it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      fc.pre(!text.includes("<tool_call>") && !text.trimStart().startsWith("<think>"));
      const said = finished(text);
      expect(said).toEqual(text.trim() === "" ? [] : [{ type: "text", text: text.trim() }]);
    }),
  );
});
