// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the markers of our own templates look so
import { renderTemplate, stripTemplate, TemplateFault, ToolNames } from "@shedkit/toolset";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const context = {
  tools: { by_kind: { read: "cat", edit: "ed" } },
  params: { edit: { old_string: "find" } },
  settings: { max: 3, list: ["a", "b"], off: false },
  yes: true,
};

test.each([
  ["Use ${{ tools.by_kind.read }}.", "Use cat."],
  ["${{params.edit.old_string}}", "find"],
  ["${{ tools.by_kind.execute }}", ""],
  ["a ${% if tools.by_kind.execute %}shell${% endif %} b", "a  b"],
  ["a${%- if tools.by_kind.execute %} shell${% endif -%} b", "ab"],
  ["${% if yes and not settings.off %}1${% else %}2${% endif %}", "1"],
  ["${% if settings.off %}1${% elif settings.max == 3 %}2${% else %}3${% endif %}", "2"],
  ["${% if settings.max != 3 or params.no.thing is defined %}1${% else %}2${% endif %}", "2"],
  ["${% if params.edit.old_string is not defined %}1${% endif %}", ""],
  ['${{ params.no.thing | default("x}}") }}', "x}}"],
  ["${% for x in settings.list %}[${{ x }}]${% endfor %}", "[a][b]"],
  ["${% for x in nothing %}x${% endfor %}", ""],
  ["${# it's a remark #}a", "a"],
  ["${{ (settings.off or yes) and 2 }}", "2"],
  ["echo ${VAR} {{ x }} {% if %}", "echo ${VAR} {{ x }} {% if %}"],
  ["a ${{ b", "a ${{ b"],
  ["a ${% if yes", "a ${% if yes"],
  ["ü ${{ tools.by_kind.read }}\r\n𝄞", "ü cat\r\n𝄞"],
  ["${{ constructor }}${{ tools.toString }}", ""],
])("%s", (template, expected) => {
  expect(renderTemplate(template, context)).toBe(expected);
});

test.each([
  "${{ params.no.thing }}",
  "${{ 1 + 2 }}",
  "${{ }}",
  "${{ a b }}",
  "${% if yes %}",
  "${% endif %}",
  "${% else %}",
  "${% for x y %}${% endfor %}",
  "${% if yes %}${% else %}${% else %}${% endif %}",
  "${% include 'x' %}",
])("a template that cannot be read is refused, and stripped of its markers: %s", (template) => {
  expect(() => renderTemplate(`a${template}b`, context)).toThrow(TemplateFault);
  expect(stripTemplate(`a${template}b`)).toBe("ab");
});

describe("whatever the text", () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "${{",
      "}}",
      "${%",
      "%}",
      "${#",
      "#}",
      "if yes",
      "endif",
      "else",
      "for x in y",
      "endfor",
      "-",
      "'",
      "a.b",
    ),
  );
  const text = fc.array(part).map((parts) => parts.join(""));

  test("it is rendered or refused", () => {
    fc.assert(
      fc.property(text, (template) => {
        try {
          renderTemplate(template, context);
        } catch (e) {
          expect(e).toBeInstanceOf(TemplateFault);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("without markers it stays as it is", () => {
    fc.assert(
      fc.property(fc.string(), (template) => {
        fc.pre(!/\$\{[{%#]/.test(template));
        expect(renderTemplate(template, context)).toBe(template);
        expect(stripTemplate(template)).toBe(template);
      }),
    );
  });

  test("what is filled in is never read as a template", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, value) => {
        fc.pre(!before.includes("$"));
        expect(renderTemplate(`${before}\${{ x }}`, { x: `${value}\${{ x }}` })).toBe(`${before}${value}\${{ x }}`);
      }),
    );
  });
});

test("the first tool of a kind names it; the parameters are those of all", () => {
  const names = new ToolNames([
    { kind: "edit", name: "patch", inputs: new Map([["patch", "patch"]]) },
    {
      kind: "edit",
      name: "edit",
      inputs: new Map([
        ["old_string", "find"],
        ["replace_all", "replace_all"],
      ]),
    },
  ]);
  expect(names.tool("edit")).toBe("patch");
  expect(names.param("edit", "replace_all")).toBe("replace_all");
  expect(names.param("edit", "old_string")).toBe("find");
  expect(names.tool("read")).toBeUndefined();
});

test("one tool of a kind is found by its id, also where it is not the first", () => {
  const inputs = new Map<string, string>();
  const names = new ToolNames([
    { kind: "search", id: "glob", name: "find", inputs },
    { kind: "search", id: "search_file", name: "grep", inputs },
  ]);
  expect(names.tool("search", "search_file")).toBe("grep");
  expect(names.tool("search", "list")).toBeUndefined();
  expect(names.tool("read", "search_file")).toBeUndefined();
});

test("what templates see of thousands of tools is made once for all of them", () => {
  const names = new ToolNames([{ kind: "read", name: "cat", inputs: new Map([["path", "file"]]) }]);
  const [one, two] = [names.context({ max: 1 }, true), names.context({ max: 2 }, false, { x: 1 })];
  expect(one.params).toBe(two.params);
  expect(one.tools).toBe(two.tools);
  expect(renderTemplate("${{ params.read.path }} ${{ settings.max }}", two)).toBe("file 2");
});
