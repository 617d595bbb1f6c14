import { type Message, Messages, type Tool, type ToolDeclarations } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import {
  ChatTemplate,
  deepseek,
  deepseek31,
  deepseekDsml,
  familyOf,
  gemma3,
  gemma4,
  glm,
  harmony,
  kimi,
  llama3,
  mistral,
  mistralArgs,
  promptedTags,
  qwenCoder,
  type TemplateMessage,
} from "../src/index.js";

/** A template that bears a family's sign and prints its messages as JSON. */
const dump = (sign: string, tools = "{{ tools | tojson }}") =>
  new ChatTemplate(`{# ${sign} #}${tools}{% for m in messages %}§{{ m | tojson }}{% endfor %}`);

const read: Tool = {
  type: "single",
  definition: { name: "read", category: "c", description: "Reads.", arguments: { type: "object", properties: {} } },
};
const tools: ToolDeclarations = { tools: [read], activations: [] };
const ids = (stepId: string) => ({ turnId: "t1", stepId });
const call = (id: string, stepId = "s1"): Message => ({
  type: "assistant",
  id: `a${id}`,
  model: "m",
  output: { type: "toolCall", id, name: "read", arguments: { path: "a" } },
  ...ids(stepId),
});
const result = (id: string, stepId = "s1"): Message => ({
  type: "toolResult",
  id: `r${id}`,
  toolCallId: id,
  name: "read",
  content: [{ type: "text", text: `result ${id}` }],
  ...ids(stepId),
});
const said = (text: string, stepId: string, type: "text" | "thinking" = "text"): Message => ({
  type: "assistant",
  id: text,
  model: "m",
  output: { type, text },
  ...ids(stepId),
});
const conversation = [Messages.user("Go"), call("c1"), call("c2"), result("c1"), result("c2"), said("Done.", "s2")];

function shown(
  family: typeof kimi,
  template: ChatTemplate,
  messages: readonly Message[] = conversation,
): TemplateMessage[] {
  const [, ...pieces] = family.render({ system: "Hold.", messages, tools }, template).split("§");
  return pieces.map((piece) => JSON.parse(piece));
}

it.each([
  ["<|tool_call>", gemma4],
  ["<|channel|>", harmony],
  ["<｜tool▁call▁begin｜>", deepseek31],
  ["<｜tool▁call▁begin｜> ```json", deepseek],
  ["<|tool_calls_section_begin|>", kimi],
  ["<|im_middle|>", kimi],
  ["[TOOL_CALLS] [ARGS]", mistralArgs],
  ["[TOOL_CALLS]", mistral],
  ["<tool_call><arg_key>", glm],
  ["<tool_call><function=", qwenCoder],
  ["<start_of_turn>", gemma3],
  ["<｜DSML｜", deepseekDsml],
  ["<|start_header_id|>", llama3],
  ["nothing of the kind", promptedTags],
])("a template with %s tells its family", (sign, family) => {
  expect(familyOf(dump(sign)).id).toBe(family.id);
});

describe("messages", () => {
  it("of gemma-4 hold the results of their own calls, and what the model says after them", () => {
    const messages = shown(gemma4, dump("", "{{ tools | tojson }}"));
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
    expect(messages[2]).toMatchObject({
      content: "Done.",
      tool_calls: [{ function: { name: "read" } }, {}],
      tool_responses: [
        { name: "read", response: "result c1" },
        { name: "read", response: "result c2" },
      ],
    });
  });

  it("of llama-3 and gpt-oss have one call each, followed by its result", () => {
    for (const family of [llama3, harmony]) {
      const messages = shown(family, dump(""));
      const roles = ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"];
      expect(messages.map(({ role }) => role)).toEqual(roles);
      expect(messages[3]).toMatchObject({ tool_call_id: "c1", content: "result c1" });
    }
  });

  it("of gpt-oss name the thinking as its template does, and not beside a text and a call", () => {
    const [, first] = shown(harmony, dump(""), [said("Hm.", "s1", "thinking"), call("c1"), result("c1")]);
    expect(first).toMatchObject({ thinking: "Hm.", content: "" });
    const [, both] = shown(harmony, dump(""), [said("Hm.", "s1", "thinking"), said("I look.", "s1"), call("c1")]);
    expect(both).not.toHaveProperty("thinking");
  });

  it("of mistral have ids of nine letters and digits", () => {
    const messages = shown(mistral, dump(""));
    expect(messages[2]?.tool_calls?.map(({ id }) => id)).toEqual(["call00000", "call00001"]);
    expect(messages[3]?.tool_call_id).toBe("call00000");
  });

  it("of kimi have ids that say the name", () => {
    expect(shown(kimi, dump(""))[2]?.tool_calls?.map(({ id }) => id)).toEqual(["functions.read:0", "functions.read:1"]);
  });

  it("have arguments as text or as an object, whichever the template can take", () => {
    const template = (call: string) =>
      `{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}${call}{% endfor %}{% endfor %}`;
    const sources = [
      "{{ c.function.name + c.function.arguments }}",
      "{{ c.function.name }}{{ c.function.arguments | tojson }}",
    ];
    const texts = [deepseek31, promptedTags].flatMap((family) =>
      sources.map((source) => family.render({ messages: conversation, tools }, new ChatTemplate(template(source)))),
    );
    const args = (text = "") => /read(\{.*?\})/.exec(text)?.[1]?.replaceAll(" ", "");
    expect(texts.slice(0, 2).map(args)).toEqual(['{"path":"a"}', '{"path":"a"}']);
    for (const text of texts) expect(text).not.toContain('\\"');
  });
});

describe("a template that", () => {
  const plain = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}";
  const render = (family: typeof kimi, source: string, messages: readonly Message[] = conversation) =>
    family.render({ system: "Hold.", messages, tools }, new ChatTemplate(source));

  it("does not tell of tools: the system message does", () => {
    expect(render(deepseek31, plain)).toMatch(/^\[system\]Hold\.\n\nYou can call tools\..*"name":"read".*\[user\]Go/s);
  });

  it("passes calls over: they are written as the family writes them", () => {
    expect(render(kimi, plain)).toContain(
      '[assistant]<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path":"a"}' +
        "<|tool_call_end|><|tool_calls_section_end|>",
    );
  });

  it("passes results over: the user tells them", () => {
    const source =
      "{% for m in messages %}{% if m.role != 'tool' %}[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}";
    expect(render(promptedTags, source)).toContain(
      "[user]<tool_response>\nresult c1\n</tool_response>\n<tool_response>\nresult c2\n</tool_response>",
    );
  });

  it("knows no system message: the user's first says it", () => {
    const source = `{% if messages[0].role == "system" %}{{ raise_exception("no system") }}{% endif %}${plain}`;
    expect(render(promptedTags, source)).toMatch(/^\[user\]Hold\.\n\nYou can call tools.*\n\nGo\[assistant\]/s);
  });

  it("is Gemma 3's: turns alternate, and the first tells the system's words, the tools, and how a call is written", () => {
    const source = `{%- if messages[0].role == "system" -%}{{ raise_exception("no system") }}{%- endif -%}
{%- for m in messages -%}
{%- if (m.role == "user") != (loop.index0 % 2 == 0) -%}{{ raise_exception("turns must alternate") }}{%- endif -%}
{{- "<start_of_turn>" + ("model" if m.role == "assistant" else "user") + "\n" + m.content + "<end_of_turn>\n" -}}
{%- endfor -%}`;
    const text = render(familyOf(new ChatTemplate(source)) as typeof kimi, source);
    expect(text).toMatch(/^<start_of_turn>user\nHold\.\n\nYou can call tools\..*```tool_call.*Go<end_of_turn>/s);
    expect(text).toContain('<start_of_turn>model\n```tool_call\n{"name": "read", "arguments": {"path":"a"}}\n```');
    expect(text).toContain("<start_of_turn>user\n<tool_response>\nresult c1\n</tool_response>");
  });

  it("runs over the tools although there are none, or wants content in parts, gets them so", () => {
    const text = (source: string) =>
      promptedTags.render(
        { messages: [Messages.user("Hi")], tools: { tools: [], activations: [] } },
        new ChatTemplate(source),
      );
    expect(text(`{% for tool in tools %}x{% endfor %}${plain}`)).toBe("[user]Hi");
    expect(
      text("{% for m in messages %}{% for part in m['content'] %}({{ part['text'] }}){% endfor %}{% endfor %}"),
    ).toBe("(Hi)");
  });
});
