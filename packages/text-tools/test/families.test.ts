import { evalFreeValidator } from "@shedkit/tool";
import type { ToolFunctionSpec } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { glm, hermes, qwenCoder, type TextEvent, type TextToolFamily } from "../src/index.js";
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

const families: [TextToolFamily, string][] = [
  [hermes, "<tool_call>"],
  [qwenCoder, "<tool_call>"],
  [qwenCoder, "<function="],
  [glm, "<tool_call>"],
];

describe.each(families.map(([family, mark]) => ({ family, mark, id: family.id })))(
  "$id, calls that begin with $mark",
  ({ family, mark }) => {
    const written = accepted(family.grammar(tools, { mark, text: "" }) ?? "");

    it("are read as calls that fit the schemas the grammar was made from", () => {
      fc.assert(
        fc.property(written, (rest) => {
          const events = read(family, [`${mark}${rest}`]);
          const call = events.at(-1);
          if (call?.type !== "call") throw new Error(JSON.stringify(events));
          const tool = tools.find(({ name }) => name === call.name);
          expect(evalFreeValidator.compile(tool?.parameters ?? { not: {} })(call.arguments)).toEqual([]);
          expect(events.map((event) => event.type)).toEqual(["callStart", "callDelta", "call"]);
          const delta = events[1];
          expect(delta?.type === "callDelta" && JSON.parse(delta.json)).toEqual(call.arguments);
        }),
        { numRuns: 200 },
      );
    });

    it("are the same however they are cut, with text around them", () => {
      fc.assert(
        fc.property(written, fc.array(fc.nat(400), { maxLength: 6 }), (rest, cuts) => {
          const answer = `Well.\n${mark}${rest}\nThen.`;
          const at = [0, ...cuts.map((cut) => cut % answer.length).sort((a, b) => a - b), answer.length];
          const whole = read(family, [answer]);
          expect(
            read(
              family,
              at.slice(1).map((end, i) => answer.slice(at[i], end)),
            ),
          ).toEqual(whole);
          expect(read(family, [...answer])).toEqual(whole);
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
          else expect(cut?.type).toBe("text");
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
    expect(calls(glm, "<tool_call>list</tool_call>")).toEqual([{ type: "call", name: "list", arguments: {} }]);
  });
});
