import { Messages } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { ChatTemplate, glm, type TemplateMessage } from "../src/index.js";

// What is expected here is what Jinja2 itself writes.
describe("a loop of a chat template", () => {
  const messages: TemplateMessage[] = [
    { role: "user", content: "a" },
    { role: "assistant", content: "b", reasoning_content: "B" },
    { role: "assistant", content: "c" },
  ];
  const rendered = (source: string) => new ChatTemplate(source).render(messages);

  it.each([
    [
      "forgets what was set in the turn before",
      "{% for m in messages %}{% if m.reasoning_content %}{% set r = m.reasoning_content %}{% endif %}{{ m.content }}{% if r is defined %}({{ r }}){% endif %}{% endfor %}",
      "ab(B)c",
    ],
    [
      "begins each turn with what was set before it, and changes nothing outside",
      "{% set r = '0' %}{% for m in messages %}{{ r }}{% set r = m.content %}{{ r }}{% endfor %}{{ r }}",
      "0a0b0c0",
    ],
    [
      "does so inside another one, whose variables it sees",
      "{% for m in messages %}{% set s = m.content %}{% for n in [1, 2] %}{{ s }}{% if loop.first %}{% set s = '!' %}{{ s }}{% endif %}{% endfor %}{{ s }}{% endfor %}",
      "a!aab!bbc!cc",
    ],
    [
      "keeps what is set in a namespace",
      "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endfor %}{{ ns.n }}",
      "1233",
    ],
    [
      "may be gone on with or left early, and have several variables, and a block set",
      "{% for k, v in [['a', 1], ['b', 2], ['c', 3]] %}{% if k == 'a' %}{% continue %}{% endif %}{% if v == 3 %}{% break %}{% endif %}{% set w %}<{{ k }}>{% endset %}{{ w }}{{ loop.index }}{% endfor %}",
      "<b>2",
    ],
    [
      "may set its own variables",
      "{% for m in messages %}{% set m = m.content %}{{ m }}{% for i, n in [[1, 'x']] %}{% set i = i + 1 %}{{ i }}{{ n }}{% endfor %}{% endfor %}",
      "a2xb2xc2x",
    ],
    [
      "is the same in a macro",
      "{% macro all() %}{% for m in messages %}{{ seen }}{% set seen = m.content %}{% endfor %}-{% endmacro %}{{ all() }}{{ all() }}",
      "--",
    ],
    ["says what it says where there is nothing", "{% for m in [] %}x{% else %}none{% endfor %}", "none"],
  ])("%s", (_, source, text) => {
    expect(rendered(source)).toBe(text);
  });

  it("so that no message is told with the thoughts of another one", () => {
    const source =
      "{# <arg_key> #}{% for m in messages %}{% if m.role == 'assistant' %}{% if m.reasoning_content is string %}{% set thought = m.reasoning_content %}{% endif %}<think>{% if thought is defined %}{{ thought }}{% endif %}</think>{% endif %}{{ m.content }}{% endfor %}";
    const step = (stepId: string, type: "text" | "thinking", text: string) =>
      ({ type: "assistant", id: stepId + type, turnId: "t", stepId, model: "m", output: { type, text } }) as const;
    const text = glm.render(
      {
        messages: [
          Messages.user("Go. "),
          step("1", "thinking", "Hm."),
          step("1", "text", "One. "),
          Messages.user("On. "),
          step("2", "text", "Two."),
        ],
        tools: { tools: [], activations: [] },
      },
      new ChatTemplate(source),
    );
    expect(text).toBe("Go. <think>Hm.</think>One. On. <think></think>Two.");
  });
});
