import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MarkdownStream } from "../src/markdown.js";

const render = (...deltas: string[]) => {
  let out = "";
  const stream = new MarkdownStream((text) => {
    out += text;
  });
  for (const delta of deltas) stream.push(delta);
  stream.end();
  return out;
};

/** The styles as tags, so that an expectation can be read. */
const tagged = (...deltas: string[]) =>
  render(...deltas)
    .replaceAll("\u001b[0m", "<>")
    .replaceAll("\u001b[1m", "<b>")
    .replaceAll("\u001b[2m", "<dim>")
    .replaceAll("\u001b[3m", "<i>")
    .replaceAll("\u001b[4m", "<u>")
    .replaceAll("\u001b[36m", "<c>");

describe("streamed Markdown", () => {
  it.each([
    ["plain text, 2 * 3 and snake_case_name", "plain text, 2 * 3 and snake_case_name"],
    ["a **bold** word", "a <><b>bold<> word"],
    ["an *emphasised* _word_", "an <><i>emphasised<> <><i>word<>"],
    ["run `npm test` *now*", "run <><c>npm test<> <><i>now<>"],
    ["`a * b * c`", "<><c>a * b * c<>"],
    ["# Title\ntext", "<b><u>Title<>\ntext"],
    ["#hashtag", "#hashtag"],
    ["* one\n* two", "- one\n- two"],
    ["- **b** x", "- <><b>b<> x"],
    ["an *unclosed\nnext", "an <><i>unclosed<>\nnext"],
    ["\\*not\\* styled", "*not* styled"],
    ["> said\nnot", "<dim>│<> said\nnot"],
    ["a [link](https://a.b/c) here", "a <u>link<> <dim>(https://a.b/c)<> here"],
    ["[https://a.b](https://a.b) [ ] [x] a[0](1) [b]", "<u>https://a.b<> [ ] [x] a<u>0<> <dim>(1)<> [b]"],
    [
      "| a | b |\n|---|--:|\n| 世界 | 1 |\n| **x** | `20` |\nend",
      "<b>a<>    │  <b>b<>\n─────┼───\n世界 │  1\n<><b>x<>    │ <><c>20<>\nend",
    ],
    ["| no table\n| at all", "| no table\n| at all"],
    ["```js\nconst a = 1; // **x**\n```\nend", "<dim>```js<>\n<c>const a = 1; // **x**<>\n<dim>```<>\nend"],
  ])("%j", (text, expected) => {
    expect(tagged(text)).toBe(expected);
  });

  it("shows text as soon as it is certain", () => {
    const seen: string[] = [];
    const stream = new MarkdownStream((text) => seen.push(text));
    stream.push("The port");
    stream.push(" is 80");
    expect(seen.join("")).toBe("The port is 80");
  });

  it("comes out the same wherever the stream is cut", () => {
    const markdown = fc
      .array(
        fc.constantFrom(
          ...["*", "**", "_", "`", "```", "# ", "#", "- ", "\n", " ", "    ", "a", "word", "\\", "~~~", "é", "> "],
          ...["|", "|-|", "\n|", "[", "](", ")", "[a](b)"],
        ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(markdown, fc.array(fc.nat(60)), (text, cuts) => {
        const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
        const pieces = [0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length));
        expect(render(...pieces)).toBe(render(text));
        expect(render(...text)).toBe(render(text));
      }),
    );
  });

  it("leaves text without markers as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!/[\\*_`~#|>[-]/.test(text));
        expect(render(text)).toBe(text);
      }),
    );
  });

  it("loses no letter", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("*", "_", "`", "#", "\n", " ", "a", "b", "-", "|", "[", "](", ")", ">")),
        (parts) => {
          const letters = (text: string) => text.replace(/[^ab]/g, "");
          expect(letters(stripVTControlCharacters(render(parts.join(""))))).toBe(letters(parts.join("")));
        },
      ),
    );
  });
});
