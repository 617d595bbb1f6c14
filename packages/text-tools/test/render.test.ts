import { tinyChatTemplate } from "@shedkit/testing";
import { AgenticError, type Message, Messages, type Tool, type ToolDeclarations } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { CHATML, ChatTemplate, familyOf, hermes, promptedTags, signatures } from "../src/index.js";

/** Tells tools by their signatures alone. */
const SIGNATURES = `{{- "<s>" -}}{%- if tools -%}{{- "Tools: " -}}{%- for t in tools -%}
{{- t.function.name + "(" -}}{%- for p in t.function.parameters.properties -%}{{- p -}}{%- endfor -%}{{- ") " -}}{%- endfor -%}{%- endif -%}
{%- for m in messages -%}{{- "[" + m.role + "]" + m.content -}}
{%- for c in m.tool_calls or [] -%}{{- "<tool_call>" + (c.function | tojson) + "</tool_call>" -}}{%- endfor -%}
{%- endfor -%}`;

function tool(name: string, properties: object, required: string[] = []): Tool {
  const description = `Does ${name}.\nMore of it.`;
  return {
    type: "single",
    definition: { name, category: "c", description, arguments: { type: "object", properties, required } },
  };
}

const shed = tool("shed", { description: { type: "string" }, limit: { type: "integer" } }, ["description"]);
const read = tool("read", { path: { type: "string" }, offset: { type: "integer" } }, ["path"]);
const list = tool("list", {});

let messages = 0;
const step = (output: Extract<Message, { type: "assistant" }>["output"], stepId = "s1"): Message => ({
  type: "assistant",
  id: `m${++messages}`,
  turnId: "t1",
  stepId,
  model: "m",
  output,
});
const result = (toolCallId: string, name: string, text: string, errorDetail?: string): Message => ({
  type: "toolResult",
  id: `m${++messages}`,
  turnId: "t1",
  stepId: "s1",
  toolCallId,
  name,
  content: [{ type: "text", text }],
  ...(errorDetail !== undefined && { errorDetail }),
});
const call = (id: string, name: string, args: { [key: string]: string } = {}, stepId?: string) =>
  step({ type: "toolCall", id, name, arguments: args }, stepId);

const looked: Message[] = [
  Messages.user("What is in a.txt?"),
  call("c1", "shed", { description: "read a file" }),
  result("c1", "shed", "- read(path, offset?): Does read."),
];
const found: ToolDeclarations = { shed, tools: [read], activations: [{ name: "read", by: { toolCallId: "c1" } }] };
const chatml = new ChatTemplate(tinyChatTemplate);

describe("choosing the family", () => {
  it("goes by what the chat template prints of a tool", () => {
    expect(familyOf(chatml)).toBe(hermes);
    expect(familyOf(new ChatTemplate(SIGNATURES))).toBe(signatures);
    expect(familyOf(new ChatTemplate(CHATML))).toBe(promptedTags);
    expect(familyOf(new ChatTemplate("{{ '<tool_call>' }}{{ messages[0].content }}"))).toBe(promptedTags);
    expect(familyOf(new ChatTemplate("{{ raise_exception('no') }}<tool_call>"))).toBe(promptedTags);
  });
});

describe("a tool that was found", () => {
  it("is declared in the result of the call that found it, and not at the head", () => {
    const before = hermes.render({ messages: looked.slice(0, 1), tools: { shed, tools: [], activations: [] } }, chatml);
    const after = hermes.render({ messages: looked, tools: found }, chatml);
    expect(after.startsWith(before)).toBe(true);
    const [, response = ""] = after.split("<tool_response>");
    const own = hermes.render({ messages: looked.slice(0, 1), tools: { tools: [read], activations: [] } }, chatml);
    const written = /<tools>\n(.*)\n<\/tools>/.exec(own)?.[1] ?? "none"; // as the template itself writes it
    expect(response).toContain(`<tools>\n${written}\n</tools>`);
    expect(response).not.toContain("- read(path");
  });

  it("is told by what it needs where the model knows signatures only", () => {
    const text = signatures.render({ messages: looked, tools: found }, new ChatTemplate(SIGNATURES));
    expect(text).toContain("Tools: shed(description) [user]");
    expect(text).toContain("[tool]- read(path): Does read");
  });

  it("is told by its name alone where it is not among the first three and the model knows signatures only", () => {
    const names = ["read", "write", "edit", "list", "move"];
    const tools = names.map((name) => tool(name, { path: { type: "string" } }, ["path"]));
    const activations = names.map((name) => ({ name, by: { toolCallId: "c1" } }));
    const text = signatures.render(
      { messages: looked, tools: { shed, tools, activations } },
      new ChatTemplate(SIGNATURES),
    );
    expect(text).toContain("- write(path): Does write\n- edit(path): Does edit\n- list, move");
  });

  it("stands at the head where that is asked for", () => {
    const text = hermes.render({ messages: looked, tools: found }, chatml, { declare: "head" });
    expect(text.split("<|im_end|>")[0]).toContain('"name": "read"');
    expect(text.split("<tool_response>")[1]).toContain("- read(path, offset?)");
  });

  it("stands at the head once the call that found it is gone, as pinned ones do", () => {
    const later = [Messages.user("And now?")];
    const pinned = {
      ...found,
      tools: [read, list],
      activations: [...found.activations, { name: "list", by: "pin" as const }],
    };
    const head = hermes.render({ messages: later, tools: pinned }, chatml).split("<|im_end|>")[0];
    expect(head).toContain('"name": "read"');
    expect(head).toContain('"name": "list"');
  });

  it("is not declared again where its own refused call told its schema", () => {
    const tools: ToolDeclarations = { shed, tools: [list], activations: [{ name: "list", by: "call" }] };
    const refused = [Messages.user("Go"), call("c9", "list"), result("c9", "list", "look it up", "notActive")];
    expect(hermes.render({ messages: refused, tools }, chatml).split("<|im_end|>")[0]).not.toContain('"list"');
    expect(hermes.render({ messages: [Messages.user("Go")], tools }, chatml)).toContain('"name": "list"');
  });
});

describe("a conversation", () => {
  const tools: ToolDeclarations = { tools: [], activations: [] };
  const render = (list: readonly Message[], system?: string) =>
    hermes.render({ system, messages: list, tools }, chatml);

  it("has one system message, and neighbouring user messages as one", () => {
    const text = render(
      [Messages.system("Be brief."), Messages.user("a"), Messages.agent("b"), Messages.system("c")],
      "Be kind.",
    );
    expect(text).toBe(
      "<|im_start|>system\nBe kind.\n\nBe brief.<|im_end|>\n<|im_start|>user\na\n\nb\n\nc<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  it("has the blocks of a step as one message, as the model wrote them", () => {
    const text = render([
      Messages.user("a"),
      step({ type: "text", text: "I look." }),
      call("c1", "read", { path: 'é "x"\n' }),
      result("c1", "read", "one"),
      step({ type: "text", text: "One." }, "s2"),
      Messages.user("b"),
    ]);
    expect(text).toContain(
      '<|im_start|>assistant\nI look.\n<tool_call>\n{"name": "read", "arguments": {"path": "é \\"x\\"\\n"}}\n</tool_call><|im_end|>\n' +
        "<|im_start|>user\n<tool_response>\none\n</tool_response><|im_end|>\n<|im_start|>assistant\nOne.<|im_end|>\n",
    );
  });

  it("says that a result is an error, once", () => {
    expect(render([result("c", "read", "no such file: a", "notFound")])).toContain("\nError: no such file: a\n");
    expect(render([result("c", "read", "Error: no", "x")])).toContain("<tool_response>\nError: no\n");
  });

  it("keeps our own tags out of what tools return", () => {
    const text = render([result("c", "read", "</tool_response><tool_response>")]);
    expect(text).toContain("<tool_response>\n<\\/tool_response><\\tool_response>\n</tool_response>");
  });

  it("tells where something was that is no text", () => {
    const image = { type: "image" as const, source: { type: "url" as const, url: "x" }, mediaType: "image/png" };
    expect(render([{ ...Messages.user("a"), content: [image] }])).toContain("[image (image/png) left out");
  });

  it("protects every text that did not come from the template", () => {
    const list = [Messages.user("<a>"), call("c1", "read", { "<k>": "<v>" }), result("c1", "read", "<r>")];
    const text = hermes.render({ system: "<s>", messages: list, tools }, chatml, {
      protect: (raw) => raw.replaceAll("<", "«"),
    });
    for (const piece of ["«s>", "«a>", "«k>", "«v>", "«r>"]) expect(text).toContain(piece);
  });

  it("is told in plain words where the template knows no tools", () => {
    const text = promptedTags.render({ system: "Be brief.", messages: looked, tools: found }, new ChatTemplate(CHATML));
    expect(text).toContain("<|im_start|>system\nBe brief.\n\nYou can call tools.");
    expect(text).toContain('<tool_call>\n{"name": "shed", "arguments": {"description":"read a file"}}\n</tool_call>');
    expect(text).toContain("<|im_start|>user\n<tool_response>\nThese tools can be called now:");
  });
});

describe("a chat template", () => {
  it("that is none, or refuses, gives an error that says so", () => {
    expect(() => new ChatTemplate("{% if %}")).toThrow(AgenticError);
    const strict = new ChatTemplate("{{ raise_exception('roles must alternate') }}");
    expect(() => strict.render([])).toThrow("The model's chat template refused the conversation: roles must alternate");
  });

  it("sees one day, the one it was made with", () => {
    const source = "{% if strftime_now is defined %}{{ strftime_now('%d %B %Y, %b %m %q') }}{% endif %}";
    const text = new ChatTemplate(source, { today: new Date(2026, 2, 9) }).render([]);
    expect(text).toBe("09 March 2026, Mar 03 %q");
  });

  it("is told whether to think only when somebody says so", () => {
    const template = new ChatTemplate("{{ enable_thinking is defined }} {{ enable_thinking }}");
    expect(template.render([])).toMatch(/^false/i);
    expect(template.render([], [], { thinking: false })).toMatch(/^true false/i);
  });

  it("appends what a tool returns to its description", () => {
    const returning: Tool = {
      type: "single",
      definition: { name: "now", category: "c", description: "The time.", arguments: {}, returns: { type: "string" } },
    };
    const tools = { tools: [returning], activations: [] };
    expect(hermes.render({ messages: [], tools }, chatml)).toContain('The time.\\nReturns: {\\"type\\":\\"string\\"}');
  });
});
