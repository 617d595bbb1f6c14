import { evalFreeValidator } from "@shedkit/tool";
import type { ToolFunctionSpec } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  deepseek,
  deepseek31,
  deepseekDsml,
  gemma3,
  gemma4,
  glm,
  harmony,
  hermes,
  kimi,
  llama3,
  mistral,
  mistralArgs,
  qwenCoder,
  type TextEvent,
  type TextToolFamily,
} from "../src/index.js";
import { accepted } from "./gbnf-sampler.js";

const tools: ToolFunctionSpec[] = [
  {
    name: "write_file",
    description: "",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        content: { type: "string" },
        mode: { type: "integer", minimum: 0, maximum: 777 },
        tags: { type: "array", items: { type: "string" }, maxItems: 2 },
        options: { type: "object", properties: { force: { type: "boolean" } }, required: ["force"] },
        kind: { enum: ["text", "binary"] },
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
  },
  { name: "list", description: "", parameters: { type: "object", properties: {}, additionalProperties: false } },
];

function read(family: TextToolFamily, pieces: readonly string[]): TextEvent[] {
  const parser = family.parser({ tools });
  const joined: TextEvent[] = [];
  for (const event of [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()]) {
    const last = joined.at(-1);
    if (event.type === "text" && last?.type === "text") last.text += event.text;
    else if (event.type === "thinking" && last?.type === "thinking") last.text += event.text;
    else if (event.type === "callDelta" && last?.type === "callDelta") last.json += event.json;
    else joined.push({ ...event });
  }
  return joined;
}

const calls = (family: TextToolFamily, answer: string) =>
  read(family, [answer]).filter((event) => event.type === "call");

const families: { family: TextToolFamily; mark: string; alone?: boolean }[] = [
  { family: hermes, mark: "<tool_call>" },
  { family: qwenCoder, mark: "<tool_call>" },
  { family: qwenCoder, mark: "<function=" },
  { family: glm, mark: "<tool_call>" },
  { family: gemma3, mark: "```tool_call" },
  { family: gemma3, mark: "```tool_code" },
  { family: gemma4, mark: "<|tool_call>" },
  { family: mistral, mark: "[TOOL_CALLS]" },
  { family: mistralArgs, mark: "[TOOL_CALLS]" },
  { family: deepseek, mark: "<｜tool▁call▁begin｜>" },
  { family: deepseek31, mark: "<｜tool▁call▁begin｜>" },
  { family: deepseekDsml, mark: '<｜DSML｜invoke name="' },
  { family: kimi, mark: "<|tool_call_begin|>" },
  { family: llama3, mark: "<function=" },
  { family: llama3, mark: "", alone: true },
  { family: harmony, mark: "<|channel|>commentary to=functions.list <|constrain|>json<|message|>", alone: true },
  { family: harmony, mark: "<|channel|>commentary to=functions.write_file<|message|>", alone: true },
];

describe.each(families.map((entry) => ({ ...entry, id: entry.family.id })))(
  "$id, calls that begin with $mark",
  ({ family, mark, alone }) => {
    const written = accepted(family.grammar(tools, { mark, text: "" }) ?? "");

    it("are read as calls that fit the schemas the grammar was made from", () => {
      fc.assert(
        fc.property(written, (rest) => {
          const events = read(family, [`${mark}${rest}`]);
          for (let i = 0; i < events.length; i += 3) {
            const [start, delta, call] = events.slice(i, i + 3);
            if (start?.type !== "callStart" || delta?.type !== "callDelta" || call?.type !== "call") {
              throw new Error(JSON.stringify(events));
            }
            const tool = tools.find(({ name }) => name === call.name);
            expect(evalFreeValidator.compile(tool?.parameters ?? { not: {} })(call.arguments)).toEqual([]);
            expect(start.name).toBe(call.name);
            expect(JSON.parse(delta.json)).toEqual(call.arguments);
          }
          expect(events.length).toBeGreaterThan(0);
        }),
        { numRuns: 200 },
      );
    });

    it("are the same however they are cut, with text around them", () => {
      fc.assert(
        fc.property(written, fc.array(fc.nat(400), { maxLength: 6 }), (rest, cuts) => {
          const answer = alone ? mark + rest : `Well.\n${mark}${rest}\nThen.`;
          const at = [0, ...cuts.map((cut) => cut % answer.length).sort((a, b) => a - b), answer.length];
          const whole = read(family, [answer]);
          expect(
            read(
              family,
              at.slice(1).map((end, i) => answer.slice(at[i], end)),
            ),
          ).toEqual(whole);
          expect(read(family, [...answer])).toEqual(whole);
          if (alone) return;
          expect(whole[0]).toEqual({ type: "text", text: "Well." });
          expect(whole.at(-1)).toEqual({ type: "text", text: "Then." });
        }),
        { numRuns: 100 },
      );
    });

    it("that break off anywhere are never whole", () => {
      fc.assert(
        fc.property(written, fc.double({ min: 0, max: 1, noNaN: true }), (rest, share) => {
          const whole = read(family, [`${mark}${rest}`]).at(-1);
          const cut = read(family, [`${mark}${rest.slice(0, Math.floor(rest.length * share))}`]).at(-1);
          // Either all of its arguments had come, or what came is no JSON.
          if (cut?.type === "call" && cut.arguments !== undefined) expect(cut).toEqual(whole);
          else if (cut?.type === "call") expect(() => JSON.parse(cut.rawArguments ?? "")).toThrow();
          else expect(cut?.type ?? "text").toBe("text");
        }),
        { numRuns: 200 },
      );
    });
  },
);

describe("qwen-coder", () => {
  const call = (body: string) =>
    calls(qwenCoder, `<tool_call>\n<function=write_file>\n${body}\n</function>\n</tool_call>`);
  const parameter = (key: string, value: string) => `<parameter=${key}>\n${value}\n</parameter>`;

  it("takes values as they are, by the schema", () => {
    const content = '  {"a": 1}\n\n<b>&amp;</b> </p>\n';
    expect(
      call([parameter("path", "007"), parameter("content", content), parameter("mode", "644")].join("\n")),
    ).toEqual([{ type: "call", name: "write_file", arguments: { path: "007", content, mode: 644 } }]);
    expect(call(`${parameter("tags", '["a"]')}${parameter("options", '{"force": True}')}`)).toMatchObject([
      { arguments: { tags: ["a"], options: '{"force": True}' } }, // no JSON: left to be mended or refused
    ]);
    expect(call(parameter("unknown", "[1]"))).toMatchObject([{ arguments: { unknown: [1] } }]);
  });

  it("accepts missing outer tags, and JSON", () => {
    const inner = `<function=write_file>\n${parameter("path", "a")}\n</function>`;
    const wanted = [{ type: "call", name: "write_file", arguments: { path: "a" } }];
    expect(calls(qwenCoder, inner)).toEqual(wanted);
    expect(calls(qwenCoder, `<tool_call>\n${inner}`)).toEqual(wanted);
    expect(calls(qwenCoder, '<tool_call>{"name": "write_file", "arguments": {"path": "a"}}</tool_call>')).toEqual(
      wanted,
    );
  });
});

describe("glm", () => {
  it("keeps a string that looks like JSON a string, with or without line breaks between the tags", () => {
    const args = { path: "a", content: "[1, 2]", mode: 5 };
    const pairs = Object.entries(args).map(
      ([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`,
    );
    const wanted = [{ type: "call", name: "write_file", arguments: args }];
    expect(calls(glm, `<tool_call>write_file\n${pairs.join("")}</tool_call>`)).toEqual(wanted);
    expect(calls(glm, `<tool_call>write_file${pairs.join("").replaceAll("\n", "")}</tool_call>`)).toEqual(wanted);
    const lines = "<tool_call>write_file<arg_key>content</arg_key><arg_value>\na\n</arg_value></tool_call>";
    expect(calls(glm, lines)).toMatchObject([{ arguments: { content: "\na\n" } }]);
    expect(calls(glm, "<tool_call>list</tool_call>")).toEqual([{ type: "call", name: "list", arguments: {} }]);
  });
});

const finished = (family: TextToolFamily, answer: string) =>
  read(family, [answer]).filter((event) => event.type !== "callStart" && event.type !== "callDelta");

describe("gemma-4", () => {
  const quote = '<|"|>';
  it("reads bare keys, quoted strings, nested maps and lists", () => {
    const args = `{path:${quote}a, "b" {c}\n${quote},mode:7,tags:[${quote}x${quote},${quote}${quote}],options:{force:true,n:null}}`;
    expect(
      finished(gemma4, `<|channel>thought\nHm.<channel|>Well.<|tool_call>call:write_file${args}<tool_call|>`),
    ).toEqual([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "Well." },
      {
        type: "call",
        name: "write_file",
        arguments: { path: 'a, "b" {c}\n', mode: 7, tags: ["x", ""], options: { force: true, n: null } },
      },
    ]);
  });

  it("keeps what is no value as it came, and stops before a result", () => {
    expect(calls(gemma4, "<|tool_call>call:list{a:[}<tool_call|>")).toMatchObject([{ rawArguments: "{a:[}" }]);
    expect(gemma4.stops).toEqual(["<|tool_response>"]);
  });
});

describe("mistral", () => {
  it("reads lists with ids, and names before arguments", () => {
    const list = '[{"name": "list", "arguments": {}, "id": "abcdef123"}, {"name": "list", "arguments": {}}]';
    expect(calls(mistral, `[TOOL_CALLS] ${list}`)).toEqual([
      { type: "call", name: "list", arguments: {}, providerCallId: "abcdef123" },
      { type: "call", name: "list", arguments: {} },
    ]);
    expect(calls(mistralArgs, '[TOOL_CALLS]list[ARGS]{}[TOOL_CALLS]list[CALL_ID]abcdef123[ARGS]{"a": 1}')).toEqual([
      { type: "call", name: "list", arguments: {} },
      { type: "call", name: "list", arguments: { a: 1 }, providerCallId: "abcdef123" },
    ]);
  });
});

it("mistral's thinking stands between brackets, and calls may have ids by the grammar", () => {
  expect(finished(mistralArgs, "[THINK]Hm.[/THINK]Yes.")).toEqual([
    { type: "thinking", text: "Hm." },
    { type: "text", text: "Yes." },
  ]);
  const ids = fc
    .sample(accepted(mistralArgs.grammar(tools) ?? ""), 50)
    .map((rest) => calls(mistralArgs, `[TOOL_CALLS]${rest}`));
  expect(new Set(ids.map(([call]) => call?.type === "call" && call.providerCallId?.length))).toEqual(
    new Set([9, undefined]),
  );
});

describe("deepseek", () => {
  it("reads fenced and plain arguments, whichever version the model is", () => {
    const section = (call: string) =>
      `Well.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${call}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`;
    const wanted = [
      { type: "text", text: "Well." },
      { type: "call", name: "list", arguments: { a: 1 } },
    ];
    for (const family of [deepseek, deepseek31]) {
      expect(finished(family, section('function<｜tool▁sep｜>list\n```json\n{"a": 1}\n```'))).toEqual(wanted);
      expect(finished(family, section('list<｜tool▁sep｜>{"a": 1}'))).toEqual(wanted);
    }
  });
});

describe("deepseek-dsml", () => {
  const [open, close] = ["<｜DSML｜", "</｜DSML｜"];
  const parameter = (key: string, value: string, string?: boolean) =>
    `${open}parameter name="${key}"${string === undefined ? "" : ` string="${string}"`}>${value}${close}parameter>\n`;
  const invoke = (name: string, body: string) => `${open}invoke name="${name}">\n${body}${close}invoke>\n`;

  it("takes each value for what its tag says, else for what the schema says", () => {
    const body = [
      parameter("path", "007", true),
      parameter("content", "\n[1, 2]\n", true),
      parameter("mode", "5", false),
      parameter("tags", '["x"]'),
    ].join("");
    for (const section of ["function_calls", "tool_calls"]) {
      const answer = `<think>Hm.</think>Well.\n\n${open}${section}>\n${invoke("write_file", body)}${invoke("list", "")}${close}${section}>`;
      expect(finished(deepseekDsml, answer)).toEqual([
        { type: "thinking", text: "Hm." },
        { type: "text", text: "Well." },
        { type: "call", name: "write_file", arguments: { path: "007", content: "\n[1, 2]\n", mode: 5, tags: ["x"] } },
        { type: "call", name: "list", arguments: {} },
      ]);
    }
  });
});

describe("kimi", () => {
  it("takes the name out of the id, and keeps the id", () => {
    const call = '<|tool_call_begin|>functions.list:3<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>';
    expect(finished(kimi, `<|tool_calls_section_begin|>${call}<|tool_calls_section_end|>`)).toEqual([
      { type: "call", name: "list", arguments: { a: 1 }, providerCallId: "functions.list:3" },
    ]);
  });
});

describe("llama-3", () => {
  it("takes JSON for a call only where it is the whole answer and names a tool", () => {
    const wanted = [{ type: "call", name: "list", arguments: { a: 1 } }];
    expect(finished(llama3, '{"name": "list", "parameters": {"a": 1}}')).toEqual(wanted);
    expect(finished(llama3, '<|python_tag|>{"name": "list", "arguments": {"a": 1}}')).toEqual(wanted);
    expect(finished(llama3, '<function=list>{"a": 1}</function>')).toEqual(wanted);
    expect(finished(llama3, '{"name": "list", "parameters": {}}; {"name": "list", "parameters": {}}')).toHaveLength(2);
    for (const text of [
      '{"name": "other", "parameters": {}}',
      '{"name": "list"} is JSON',
      '{"list": 1}',
      "{ braces }",
    ]) {
      expect(finished(llama3, text)).toEqual([{ type: "text", text }]);
    }
  });

  it("takes a list of calls in Python's way, with what Python writes in it, however it is cut", () => {
    const answer = `[write_file(path='it\\'s "a"\\n', content="é\\u4e16", tags=["x", 'y',], options={'force': True}, mode=-3), list( )]`;
    const wanted = [
      {
        type: "call",
        name: "write_file",
        arguments: { path: 'it\'s "a"\n', content: "é世", tags: ["x", "y"], options: { force: true }, mode: -3 },
      },
      { type: "call", name: "list", arguments: {} },
    ];
    expect(finished(llama3, answer)).toEqual(wanted);
    expect(finished(llama3, `<|python_tag|>${answer}`)).toEqual(wanted);
    expect(read(llama3, [...answer])).toEqual(read(llama3, [answer]));
    expect(calls(llama3, "[list(n=12345678901234567890, x=None, y=1e3)]")).toEqual([
      { type: "call", name: "list", rawArguments: '{"n": 12345678901234567890, "x": null, "y": 1e3}' },
    ]);
    for (let end = "[write_file(".length; end < answer.length; end++) {
      const [first] = calls(llama3, answer.slice(0, end));
      if (first?.type !== "call") throw new Error(answer.slice(0, end));
      if (first.arguments === undefined) expect(() => JSON.parse(first.rawArguments ?? "")).toThrow();
      else expect(first.arguments).toEqual(wanted[0]?.arguments);
    }
  });

  it("takes other lists for text, and shows them while they come", () => {
    for (const text of [
      "[1, 2]",
      "[list]",
      "[list(x) for x in y]",
      "[other(a=1)]",
      "[list(a=1)] is how",
      "[a, list(b=1)]",
      "[",
    ]) {
      expect(finished(llama3, text)).toEqual([{ type: "text", text }]);
    }
    const parser = llama3.parser({ tools });
    expect(parser.push("[1, 2, ")).toEqual([{ type: "text", text: "[1, 2," }]);
  });

  it("is held to the schema from the name of a tool on", () => {
    const parser = llama3.parser({ tools });
    parser.push('{"name": "write_fi');
    expect(parser.call).toBeUndefined();
    parser.push('le", ');
    const grammar = llama3.grammar(tools, parser.call);
    for (const rest of fc.sample(accepted(grammar ?? ""), 20)) {
      expect(calls(llama3, `{"name": "write_file", ${rest}`)).toMatchObject([{ name: "write_file", arguments: {} }]);
    }
  });
});

describe("gpt-oss", () => {
  it("tells channels apart", () => {
    const answer =
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>" +
      '<|start|>assistant<|channel|>commentary to=functions.list <|constrain|>json<|message|>{"a": 1}<|call|>';
    expect(finished(harmony, answer)).toEqual([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "I look." },
      { type: "call", name: "list", arguments: { a: 1 } },
    ]);
    expect(finished(harmony, "<|channel|>final<|message|>Yes.")).toEqual([{ type: "text", text: "Yes." }]);
    expect(finished(harmony, " to=functions.list<|channel|>commentary json<|message|>{}")).toHaveLength(1);
    expect(finished(harmony, "Yes.")).toEqual([{ type: "text", text: "Yes." }]);
  });
});
