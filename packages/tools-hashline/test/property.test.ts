import { MemoryFileSystem } from "@shedkit/fs/memory";
import { callTool } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HashlineEdit, hashlineEditTool } from "../src/index.js";
import { anchors, content } from "./helpers.js";

/** An edit by line numbers, from 0. */
type ByNumber =
  | { type: "replace"; first: number; last: number; lines: string[] }
  | { type: "insert"; before: number; lines: string[] };

const word = fc.constantFrom("", "a", "b", "}", "  x", "1:abc→", "é🌍", "\t", "return;");
const lines = fc.array(word, { maxLength: 12 });
const ends = fc.array(fc.constantFrom("\n", "\r\n"), { minLength: 12, maxLength: 12 });
const edits = fc.array(fc.tuple(fc.nat(), fc.nat(4), fc.boolean(), fc.array(word, { maxLength: 3 })), {
  minLength: 1,
  maxLength: 4,
});

/** The same edits, those aside that change what another one does. */
function byNumber(count: number, wanted: [number, number, boolean, string[]][]): ByNumber[] {
  const taken = new Set<number>();
  const inserted = new Set<number>();
  return wanted.flatMap(([at, span, insert, lines]): ByNumber[] => {
    if (insert || count === 0) {
      const before = at % (count + 1);
      if (lines.length === 0 || (taken.has(before) && taken.has(before - 1))) return [];
      inserted.add(before);
      return [{ type: "insert", before, lines }];
    }
    const first = at % count;
    const last = Math.min(first + span, count - 1);
    for (let i = first; i <= last; i++) if (taken.has(i) || (i > first && inserted.has(i))) return [];
    for (let i = first; i <= last; i++) taken.add(i);
    return [{ type: "replace", first, last, lines }];
  });
}

function applied(old: readonly string[], edits: readonly ByNumber[]): string[] {
  const result: string[] = [];
  for (let i = 0; i <= old.length; i++) {
    for (const edit of edits) if (edit.type === "insert" && edit.before === i) result.push(...edit.lines);
    const replaced = edits.find((edit) => edit.type === "replace" && edit.first <= i && i <= edit.last);
    if (replaced?.type === "replace") {
      if (replaced.first === i) result.push(...replaced.lines);
    } else if (i < old.length) result.push(old[i] ?? "");
  }
  return result;
}

/** The lines as a content: each with its end, so that an empty one counts. */
function asContent(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function byAnchors(edits: readonly ByNumber[], names: readonly string[]): HashlineEdit[] {
  return edits.map((edit): HashlineEdit => {
    const content = asContent(edit.lines);
    if (edit.type === "insert") {
      const anchor = edit.before === 0 ? "0:" : (names[edit.before - 1] ?? "EOF");
      return { op: "insert_after", anchor, content };
    }
    const { first, last } = edit;
    return { op: "replace", anchor: names[first], ...(first < last && { end_anchor: names[last] }), content };
  });
}

function linesIn(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

describe("any edits by anchors", () => {
  test("do what the same edits by line numbers do, one call after another", async () => {
    await fc.assert(
      fc.asyncProperty(lines, ends, fc.boolean(), fc.array(edits, { minLength: 1, maxLength: 4 }), async (...given) => {
        const [start, ends, open, calls] = given;
        const text = start.map((line, i) => line + (ends[i] ?? "\n")).join("");
        const fs = new MemoryFileSystem({ f: open ? text.replace(/\r?\n$/, "") : text });
        const edit = hashlineEditTool(fs);
        for (const wanted of calls) {
          const before = linesIn(await content(fs, "f"));
          const made = byNumber(before.length, wanted);
          const after = applied(before, made);
          if (made.length === 0 || after.join("\n") === before.join("\n")) continue;
          await edit.call({ path: "f", edits: byAnchors(made, await anchors(fs, "f")) });
          expect(linesIn(await content(fs, "f"))).toEqual(after);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("leave the lines that they do not name as they are, byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { minLength: 3, maxLength: 12 }),
        ends,
        fc.nat(),
        fc.array(word, { maxLength: 3 }),
        async (start, ends, at, next) => {
          const raw = start.map((line, i) => line + (ends[i] ?? "\n"));
          const index = at % raw.length;
          const fs = new MemoryFileSystem({ f: raw.join("") });
          const names = await anchors(fs, "f");
          fc.pre(asContent(next) !== `${start[index]}\n`);
          const replace = { op: "replace" as const, anchor: names[index], content: asContent(next) };
          await hashlineEditTool(fs).call({ path: "f", edits: [replace] });
          const text = await content(fs, "f");
          expect(text.startsWith(raw.slice(0, index).join(""))).toBe(true);
          expect(text.endsWith(raw.slice(index + 1).join(""))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("never reach a line that says something else than the one that was named", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 12 }), lines, fc.nat(), async (old, now, at) => {
        const fs = new MemoryFileSystem({ f: asContent(old) });
        const index = at % old.length;
        const anchor = (await anchors(fs, "f", 8))[index];
        await fs.writeFile("f", asContent(now));
        const args = { path: "f", edits: [{ op: "replace", anchor, content: "new" }] };
        const result = await callTool(hashlineEditTool(fs), args);
        if (result.errorDetail === undefined) {
          expect(now[index]).toBe(old[index]);
          const earlier = (lines: string[]) => lines.slice(0, index).filter((line) => line === old[index]).length;
          expect(earlier(now)).toBe(earlier(old));
        } else expect(await content(fs, "f")).toBe(asContent(now));
      }),
      { numRuns: 300 },
    );
  });
});
