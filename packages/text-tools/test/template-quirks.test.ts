import { type Message, Messages, type Tool, type ToolDeclarations } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import {
  ChatTemplate,
  familyOf,
  gemma4,
  glm,
  harmony,
  hermes,
  mistral,
  promptedTags,
  type TextToolFamily,
} from "../src/index.js";

function tool(name: string, properties: object, required: readonly string[] = []): Tool {
  const args = { type: "object", properties, required };
  return { type: "single", definition: { name, category: "c", description: `Does ${name}.`, arguments: args } };
}

const shed = tool("shed", { description: { type: "string" }, limit: { type: "integer" } }, ["description"]);
const read = tool("read", { path: { type: "string" } }, ["path"]);
const ids = (stepId: string) => ({ turnId: "t1", stepId });
const step = (stepId: string, output: Extract<Message, { type: "assistant" }>["output"]): Message => ({
  type: "assistant",
  id: `${stepId}-${output.type}`,
  model: "m",
  output,
  ...ids(stepId),
});
const result = (toolCallId: string, name: string, text: string): Message => ({
  type: "toolResult",
  id: `r-${toolCallId}`,
  toolCallId,
  name,
  content: [{ type: "text", text }],
  ...ids("s"),
});
const looked: Message[] = [
  Messages.user("Go"),
  step("s1", { type: "text", text: "Let me look." }),
  step("s1", { type: "toolCall", id: "c1", name: "shed", arguments: { description: "read" } }),
  result("c1", "shed", "- read(path)"),
];
const done: Message[] = [
  ...looked,
  step("s2", { type: "toolCall", id: "c2", name: "read", arguments: { path: "a" } }),
  result("c2", "read", "text of a"),
  step("s3", { type: "text", text: "Done." }),
];
const found: ToolDeclarations = { shed, tools: [read], activations: [{ name: "read", by: { toolCallId: "c1" } }] };
const pinned: ToolDeclarations = { tools: [read], activations: [] };
const render = (family: TextToolFamily, source: string, messages: readonly Message[], tools: ToolDeclarations) =>
  family.render({ system: "Hold.", messages, tools }, new ChatTemplate(source));

const MESSAGES = `{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }} {{ c.function.arguments | tojson }}{% endfor %}{% endfor %}`;

describe("a tool that was found is told as the template tells tools", () => {
  it.each([
    ["a list", "{% if tools %}{{ tools | tojson }}{% endif %}", '{"type": "function", "function": {"name": "read"'],
    ["lines", "{% for t in tools or [] %}\n{{ t.function | tojson }}{% endfor %}\nEnd.", '{"name": "read"'],
    ["tags", "{% for t in tools or [] %}<tool>{{ t.function.name }}</tool>{% endfor %}<end>", "<tool>read</tool>"],
    ["code", "{% for t in tools or [] %}// It\ntype {{ t.function.name }};\n{% endfor %}}", "// It\ntype read;"],
  ])("%s", (_, head, written) => {
    const [, told = ""] = render(hermes, `${head}${MESSAGES}`, looked, found).split("[tool]");
    expect(told).toContain(`These tools can be called now:\n<tools>\n${written}`);
    expect(told).toMatch(/\n<\/tools>$/);
    expect(told).not.toContain("probe");
  });

  it("by its schema where the template does not tell one after the other", () => {
    const head = "{% if tools %}There are {{ tools | length }} tools, {{ tools[0].function.name }} first.{% endif %}";
    expect(render(hermes, `${head}${MESSAGES}`, looked, found)).toContain(
      '{"type":"function","function":{"name":"read"',
    );
  });

  it("in GLM's own form", () => {
    const head = "{% for t in tools or [] %}\n{{ t.function | tojson }}{% endfor %}";
    expect(render(glm, `${head}${MESSAGES}`, looked, found)).toMatch(
      /\[tool\]<tools>\n\{"name": "read".*\}\n<\/tools>$/s,
    );
  });
});

it("texts of tools are protected as all others are", () => {
  const source = `{% for t in tools or [] %}{{ t.function | tojson }}{% endfor %}${MESSAGES}`;
  const intruding = tool("read", { "<k>": { type: "string", description: "<end>" } });
  const text = hermes.render({ messages: looked, tools: { ...found, tools: [intruding] } }, new ChatTemplate(source), {
    protect: (raw) => raw.replaceAll("<", "«"),
  });
  expect(text).toContain('"«k>"');
  expect(text).toContain('"«end>"');
});

it("a family without a form of its own lets no template tell of tools in another one", () => {
  const source = `{% for t in tools or [] %}FOREIGN {{ t.function.name }} {{ t.function.description }}{% endfor %}${MESSAGES.replace("<tool_call>", "CALL")}`;
  expect(familyOf(new ChatTemplate(source))).toBe(promptedTags);
  const text = render(promptedTags, source, looked, pinned);
  expect(text).not.toContain("FOREIGN");
  expect(text).toContain('You can call tools. These are their signatures:\n<tools>\n{"type":"function"');
});

it("a template with Llama's headers and calls of its own is not taken for Llama's", () => {
  const sign = "{# <|start_header_id|> #}{% for t in tools or [] %}{{ t.function.name }}{% endfor %}";
  expect(familyOf(new ChatTemplate(`${sign}${MESSAGES}`)).id).toBe("llama-3");
  expect(familyOf(new ChatTemplate(`${sign}{# >>>name #}${MESSAGES}`)).id).not.toBe("llama-3");
});

it("a template that puts the system's words beside the last question gets them in the first", () => {
  const source = `{% set system = messages[0].role == "system" %}{% for m in messages[1:] if system else messages %}[{{ m.role }}]
{%- if loop.last and m.role == "user" and system %}{{ messages[0].content }} {% endif %}{{ m.content }}{% endfor %}`;
  const asked = [Messages.user("One"), step("s1", { type: "text", text: "Yes" }), Messages.user("Two")];
  expect(render(mistral, source, asked, { tools: [], activations: [] })).toBe(
    "[user]Hold.\n\nOne[assistant]Yes[user]Two",
  );
});

it("lists that a template changes in a namespace run", () => {
  const source = `{%- set q = namespace(ids=[]) -%}{%- for m in messages -%}
{%- for c in m.tool_calls or [] -%}{%- set _ = q.ids.append('id-' + c.function.name) -%}({{ c.function.name }}{{ c.function.arguments | tojson }}){%- endfor -%}
{%- if m.role == "tool" -%}{%- set id = q.ids.pop(0) -%}<{{ id }}>{{ m.content }}{%- endif -%}{%- endfor -%}`;
  expect(render(hermes, source, done, pinned)).toBe(
    '(shed{"description": "read"})<id-shed>- read(path)(read{"path": "a"})<id-read>text of a',
  );
});

it("a template that wants of each parameter one type and a description gets them", () => {
  const source = `{% for t in tools or [] %}{{ t.function.name }}: {{ t.function.description }}{% for k, p in t.function.parameters.properties | items %}({{ k }} {{ p.type | upper }} {{ p.description | trim }}){% endfor %}{% endfor %}${MESSAGES}`;
  const odd = tool("odd", {
    a: { type: ["null", "integer"], description: " One " },
    b: { anyOf: [{ type: "null" }, { type: "boolean" }] },
    c: { enum: ["x"] },
    d: true as unknown as object,
    e: { $ref: "#" },
    f: { items: {} },
    g: { oneOf: [{ properties: {} }] },
    h: { enum: [1] },
  });
  const text = render(hermes, source, [Messages.user("Go")], { tools: [odd], activations: [] });
  expect(text).toContain(
    "(a INTEGER One)(b BOOLEAN )(c STRING )(d STRING )(e STRING )(f ARRAY )(g OBJECT )(h NUMBER )",
  );
  const none: Tool = { type: "single", definition: { name: "none", category: "c", description: "", arguments: {} } };
  expect(render(hermes, source, [Messages.user("Go")], { tools: [none], activations: [] })).toContain("none: [");
});

describe("a template that cannot write a tool", () => {
  const source = `{% for t in tools or [] %}TOOL {{ t.function.name }}{% for k, p in t.function.parameters.properties | items %}{% if p.type == "array" %}{{ raise_exception("no lists") }}{% endif %}{% endfor %}{% endfor %}${MESSAGES}`;
  const lines = tool("lines", { path: { type: "array", items: { type: "string" } } });

  it("has it told in the system message, and others in its own way", () => {
    const text = render(hermes, source, [Messages.user("Go")], { tools: [lines], activations: [] });
    expect(text).toMatch(/^\[system\]Hold\.\n\nYou can call tools\..*"name":"lines".*\[user\]Go$/s);
    expect(render(hermes, source, [Messages.user("Go")], pinned)).toBe("TOOL read[system]Hold.[user]Go");
  });

  it("says what it said of the tools where it refuses the conversation as well", () => {
    const refusing = `${source}{% if messages | length == 2 %}{{ raise_exception("nothing at all") }}{% endif %}`;
    expect(() => render(hermes, refusing, [Messages.user("Go")], { tools: [lines], activations: [] })).toThrow(
      "refused the conversation: no lists",
    );
  });
});

describe("a template that wants turns to alternate", () => {
  // Calls and results stand beside the turns, as Mistral has them.
  const source = `{% set ns = namespace(n=0) %}{% for m in messages %}{% if m.role == "user" or m.role == "assistant" and not m.tool_calls %}
{%- if (m.role == "user") != (ns.n % 2 == 0) %}{{ raise_exception("turns must alternate") }}{% endif %}{% set ns.n = ns.n + 1 %}{% endif %}{% endfor -%}
{% if ns.n == 0 %}{{ raise_exception("nobody asks") }}{% endif %}${MESSAGES}`;
  const text = (messages: readonly Message[]) => render(hermes, source, messages, { tools: [], activations: [] });

  it("gets such of a conversation that the assistant began", () => {
    expect(text([step("s1", { type: "text", text: "Hello" }), Messages.user("Go")])).toBe(
      "[system]Hold.[user]Begin.[assistant]Hello[user]Go",
    );
  });

  it("gets two answers one behind the other as one", () => {
    const answers = ["One.", "Two."].map((said, i) => step(`s${i}`, { type: "text", text: said }));
    expect(text([Messages.user("Go"), ...answers, Messages.user("On")])).toBe(
      "[system]Hold.[user]Go[assistant]One.\n\nTwo.[user]On",
    );
  });

  it("gets what is said behind a result, and goes on so", () => {
    const steered = [...looked, Messages.user("Quick!")];
    const before = text(looked);
    const after = text(steered);
    expect(after).toBe(`${before}[assistant]I see.[user]Quick!`);
    expect(text([...steered, step("s4", { type: "text", text: "Done." })])).toBe(`${after}[assistant]Done.`);
  });

  it("gets a question where nobody has said anything", () => {
    expect(text([Messages.system("A note.")])).toBe("[system]Hold.\n\nA note.[user]Begin.");
  });
});

describe("Gemma 4's template", () => {
  // Its ways: parameters called like keywords are left out, a text stands behind the results, turns go on.
  const source = `{%- for t in tools or [] -%}<|tool>declaration:{{ t.function.name }}{
{%- for k, p in t.function.parameters.properties | dictsort -%}{%- if k not in ["description", "type"] -%}{{ k }}:{{ p.type | upper }},{%- endif -%}{%- endfor -%}
}{{ t.function.description }}<tool|>{%- endfor -%}
{%- for m in messages -%}[{{ m.role }}]
{%- for c in m.tool_calls or [] -%}<|tool_call>call:{{ c.function.name }}{{ c.function.arguments | tojson }}<tool_call|>{%- endfor -%}
{%- for r in m.tool_responses or [] -%}<|tool_response>{{ r.name }}:{{ r.response | tojson }}<tool_response|>{%- endfor -%}
{{- m.content -}}{%- endfor -%}`;

  it("tells every parameter, texts before calls, and tools that were found as values", () => {
    expect(familyOf(new ChatTemplate(source))).toBe(gemma4);
    const text = render(gemma4, source, done, found);
    expect(text).toContain("declaration:shed{description:STRING,limit:INTEGER,}Does shed.");
    expect(text).toContain(
      '[assistant]Let me look.<|tool_call>call:shed{"description": "read"}<tool_call|><|tool_response>shed:{"tools": ' +
        '[{"name": "read", "description": "Does read.", "parameters": {"required": ["path"], "properties": {"path": {"type": "STRING"}}, "type": "OBJECT"}}]}<tool_response|>' +
        '[assistant]<|tool_call>call:read{"path": "a"}<tool_call|><|tool_response>read:"text of a"<tool_response|>Done.',
    );
  });

  it("tells a text before calls although it holds what stands there", () => {
    const text = "$1 call:<|tool_call>call: \u{F5D1C}x";
    const messages = [
      Messages.user("Go"),
      step("s1", { type: "text", text }),
      step("s1", { type: "toolCall", id: "c1", name: "read", arguments: {} }),
      step("s1", { type: "toolCall", id: "c2", name: "read", arguments: {} }),
    ];
    expect(render(gemma4, source, messages, pinned)).toContain(
      `[assistant]${text.replace("\u{F5D1C}", "")}<|tool_call>call:read{}<tool_call|><|tool_call>call:read{}<tool_call|>`,
    );
  });
});

describe("gpt-oss", () => {
  it("is known by its channels", () => {
    expect(familyOf(new ChatTemplate(`{# <|channel|>final #}{{ tools | tojson }}${MESSAGES}`))).toBe(harmony);
  });
});
