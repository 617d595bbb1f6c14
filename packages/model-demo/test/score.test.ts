import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import type { EvalCase } from "../eval/cases.js";
import { verdictOf } from "../eval/score.js";

const root = mkdtempSync(path.join(tmpdir(), "demo-score-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const verdict = (wanted: Partial<EvalCase>, answer: string | undefined, facts: readonly string[] = []) =>
  verdictOf({ skill: "one", ask: "?", ...wanted }, { answer, root, facts });

it.each([
  ["The port is 8417.", "right"],
  ["The port is 84170.", "wrong"],
  ["The port is 8.8417.", "wrong"],
  ["I could not find port in config.ini.", "refused"],
  [undefined, "refused"],
])("takes a value for said where it stands as a word of its own: %s", (answer, expected) => {
  expect(verdict({ says: ["8417"] }, answer)).toBe(expected);
});

it("wants every one of several values", () => {
  expect(verdict({ says: ["a.ts", "b.ts"] }, "The files are a.ts, b.ts.")).toBe("right");
  expect(verdict({ says: ["a.ts", "b.ts"] }, "The files are a.ts, ab.ts.")).toBe("wrong");
});

it("takes a refusal for right where there is nothing to be found, and anything else for wrong", () => {
  expect(verdict({ absent: true }, "I could not find it.")).toBe("right");
  expect(verdict({ absent: true }, "The port is 80.")).toBe("wrong");
  expect(verdict({ beyond: true }, "I cannot help with that.")).toBe("right");
  expect(verdict({ beyond: true }, "It is blue.")).toBe("wrong");
});

it("looks into the folder and the memory for what was claimed to be done", () => {
  writeFileSync(path.join(root, "note.txt"), "buy tulips\n");
  expect(verdict({ holds: { "note.txt": "buy tulips" } }, "I wrote note.txt.")).toBe("right");
  expect(verdict({ holds: { "note.txt": "buy roses" } }, "I wrote note.txt.")).toBe("wrong");
  expect(verdict({ changed: { path: "note.txt", has: "tulips", not: "buy" } }, "I replaced it.")).toBe("wrong");
  expect(verdict({ remembers: "my cat is Tom" }, "I will remember it.", ["My cat is Tom."])).toBe("right");
  expect(verdict({ remembers: "my cat is Tom" }, "I will remember it.")).toBe("wrong");
});
