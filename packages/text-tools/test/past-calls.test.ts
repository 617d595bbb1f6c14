import { type Message, Messages, type ToolDeclarations } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { ChatTemplate, deepseekDsml, gemma4, glm, hermes, qwenCoder, type TextToolFamily } from "../src/index.js";

const none: ToolDeclarations = { tools: [], activations: [] };

/** A conversation in which the model has called a tool so. */
function called(output: { arguments: object } | { rawArguments: string }): Message[] {
  const ids = { turnId: "t", stepId: "s" };
  return [
    Messages.user("Go"),
    {
      type: "assistant",
      id: "a",
      model: "m",
      output: { type: "toolCall", id: "c", name: "read", ...(output as { rawArguments: string }) },
      ...ids,
    },
    { type: "toolResult", id: "r", toolCallId: "c", name: "read", content: [{ type: "text", text: "result" }], ...ids },
  ];
}

const render = (family: TextToolFamily, source: string, output: Parameters<typeof called>[0]) =>
  family.render({ messages: called(output), tools: none }, new ChatTemplate(source));

/** Ways in which chat templates write calls, around their messages. */
const template = (call: string) =>
  `{%- for m in messages -%}[{{ m.role }}]{{ m.content }}{%- for c in m.tool_calls or [] -%}{{ c.function.name }}:${call}{%- endfor -%}` +
  "{%- for r in m.tool_responses or [] -%}={{ r.response }}{%- endfor -%}{%- endfor -%}";
const TEXTS =
  "{%- for k, v in c.function.arguments | items -%}<{{ k }}>{{ v | tojson if v is mapping or v is sequence and v is not string else v | string }}{%- endfor -%}";
const METHOD = "{%- for k, v in c.function.arguments.items() -%}<{{ k }}>{{ v | tojson }}{%- endfor -%}";
const AS_TEXT = "{{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}";

describe("a past call with arguments that broke off", () => {
  const broken = { rawArguments: '{"path": "a,{\\"b", "lines": [1, {"x": "}"}], "text": "half' };

  it("is told by what came before that, where the template takes objects only", () => {
    expect(render(qwenCoder, template(TEXTS), broken)).toContain(
      '[assistant]read:<path>a,{"b<lines>[1, {"x": "}"}][tool]result',
    );
    expect(render(glm, template(METHOD), broken)).toContain('read:<path>"a,{\\"b"<lines>[1, {"x": "}"}][tool]');
    expect(render(deepseekDsml, template(TEXTS), broken)).toContain("read:<path>");
  });

  it.each(["", "{", '{"pa', '{"path": "a', "[1, 2]", "[1, 2", '"text"', "nonsense, all of it", "}{,"])(
    "is told without any where nothing of them can be read: %s",
    (rawArguments) => {
      expect(render(qwenCoder, template(TEXTS), { rawArguments })).toContain("[assistant]read:[tool]result");
    },
  );

  it("is told as it was where the template takes a text", () => {
    expect(render(hermes, template(AS_TEXT), broken)).toContain(`[assistant]read:${broken.rawArguments}[tool]result`);
  });
});

describe("a past call with null among its arguments", () => {
  const nothing = { arguments: { path: null, more: { deep: null, list: [null, 1] } } };

  it("is told as the grammar writes it, though the template makes a text of each value", () => {
    expect(render(qwenCoder, template(TEXTS), nothing)).toContain(
      '[assistant]read:<path>null<more>{"deep": null, "list": [null, 1]}[tool]result',
    );
  });

  it("is told in Gemma 4's notation, of which our engine would write nothing", () => {
    const source = `{%- macro value(v) -%}{%- if v is string -%}<|"|>{{ v }}<|"|>{%- elif v is mapping -%}{ {%- for k, w in v | dictsort -%}{{ k }}:{{ value(w) }};{%- endfor -%} }
{%- elif v is sequence -%}[{%- for w in v -%}{{ value(w) }},{%- endfor -%}]{%- else -%}{{ v }}{%- endif -%}{%- endmacro -%}
{%- for m in messages -%}[{{ m.role }}]{{ m.content }}{%- for c in m.tool_calls or [] -%}<|tool_call>call:{{ c.function.name }}{{ value(c.function.arguments) }}<tool_call|>{%- endfor -%}{%- endfor -%}`;
    const text = render(gemma4, source, nothing);
    expect(text).toContain("call:read{more:{deep:null;list:[null,1,];};path:null;}<tool_call|>");
    expect(render(gemma4, source, { arguments: { path: "null" } })).toContain('{path:<|"|>null<|"|>;}');
  });
});
