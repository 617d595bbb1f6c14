import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clipped, columnsOf, rowsOf } from "../src/columns.js";
import { MarkdownStream } from "../src/markdown.js";
import { WordWrap } from "../src/wrap.js";

const wrapped = (width: number, ...pieces: string[]) => {
  let out = "";
  const wrap = new WordWrap(
    (text) => {
      out += text;
    },
    () => width,
  );
  for (const piece of pieces) wrap.push(piece);
  wrap.end();
  return out;
};

describe("wrapped text", () => {
  it("breaks between words, and under the beginning of an item or a quotation", () => {
    expect(wrapped(30, "The port of the server is 8417, as it says.\nEnd")).toBe(
      "The port of the server is\n8417, as it says.\nEnd",
    );
    expect(wrapped(30, "- an item whose text goes on and on\n  2. and another one of the same kind\n")).toBe(
      "- an item whose text goes on\n  and on\n  2. and another one of the\n     same kind\n",
    );
    expect(wrapped(30, "│ somebody said that it goes on and on")).toBe("│ somebody said that it goes\n│ on and on");
  });

  it("breaks wide characters where the line is full, and words that are longer than it", () => {
    expect(wrapped(20, "世界".repeat(12))).toBe(`${"世界".repeat(5)}\n${"世界".repeat(5)}\n世界世界`);
    expect(wrapped(20, `see ${"x".repeat(45)} end`)).toBe(
      `see\n${"x".repeat(20)}\n${"x".repeat(20)}\n${"x".repeat(5)} end`,
    );
  });

  it("counts no style, and leaves code and tables alone", () => {
    const styled = "\u001b[1mone\u001b[0m two three four five six";
    expect(wrapped(24, styled)).toBe("\u001b[1mone\u001b[0m two three four five\nsix");
    let out = "";
    const wrap = new WordWrap(
      (text) => {
        out += text;
      },
      () => 20,
    );
    wrap.push("Look: ");
    wrap.pushWhole("a line of code that is longer\n");
    wrap.push("and text behind it that is long");
    wrap.end();
    expect(out).toBe("Look: a line of code that is longer\nand text behind it\nthat is long");
  });

  it("loses nothing, and no line of words is longer than the terminal, wherever the stream is cut", () => {
    const words = fc.array(fc.constantFrom("a", "word", "世界", " ", "  ", "\n", "- ", "12. ", "é", "👩‍👩‍👧‍👦"), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 60 }), (parts, width) => {
        const text = parts.join("");
        const out = wrapped(width, text);
        expect(out.replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
        expect(wrapped(width, ...parts)).toBe(out);
        for (const line of out.split("\n")) expect(columnsOf(line.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("columns", () => {
  it("are counted as a terminal shows them", () => {
    expect(["abc", "世界", "e\u0301", "👩‍👩‍👧‍👦", "❤️", "\u200b", "مرحبا"].map(columnsOf)).toEqual([
      3, 4, 1, 2, 2, 0, 5,
    ]);
    expect(clipped("世界世界世界", 8)).toBe("世界...");
    expect(clipped("short", 8)).toBe("short");
    expect(rowsOf("世界世", 5)).toEqual(["世界", "世"]);
    expect(rowsOf("", 5)).toEqual([""]);
  });
});

it("a table that is too wide for the terminal is told row by row", () => {
  let out = "";
  const stream = new MarkdownStream(
    (text) => {
      out += text;
    },
    () => 20,
  );
  stream.push("| name | what it is |\n|---|---|\n| port | where it listens |\n| host | for whom |\n");
  stream.end();
  expect(stripVTControlCharacters(out)).toBe(
    "name: port\nwhat it is: where it listens\n\nname: host\nwhat it is: for whom\n",
  );
});
