import { type GbnfRules, literal, repeated } from "./gbnf.js";
import { textUntil } from "./text-until.js";

/** How values are written. */
export interface Notation {
  /** GBNF of the space that may stand between the parts of a value. */
  space: string;
  /** Adds the rule of any string; `string` is its name. */
  addString(rules: GbnfRules): void;
  /** GBNF of a string of so many characters. */
  string(min: number, max: number | undefined): string;
  /** The text of a value. */
  write(value: unknown): string;
  /** The text of a key. */
  key(name: string): string;
  /** GBNF of any key. */
  anyKey: string;
  /** Whether keys are sorted. */
  sorted: boolean;
}

const ESCAPE = '"\\\\" ( ["\\\\/bfnrt] | "u" escaped )';
const ESCAPED =
  "[0-9a-ce-fA-CE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} | " +
  '[dD] [89abAB] [0-9a-fA-F]{2} "\\\\u" [dD] [c-fC-F] [0-9a-fA-F]{2}';

/** JSON, with a space, or a line break and some indentation, where models put them. */
export const JSON_NOTATION: Notation = {
  space: '( " " | "\\n" [ \\t]{0,20} )?',
  addString(rules) {
    rules.set("escaped", ESCAPED);
    rules.set("char", `[^"\\\\\\x00-\\x1F\\x7F] | ${ESCAPE}`);
    rules.set("string", '"\\"" char* "\\""');
  },
  string: (min, max) => `( "\\"" ${repeated("char", min, max)} "\\"" )`,
  write: (value) => JSON.stringify(value) ?? "null",
  key: (name) => JSON.stringify(name),
  anyKey: "string",
  sorted: false,
};

/** What stands around a string in Gemma 4's notation: a token of its own. */
export const GEMMA_QUOTE = '<|"|>';

/** Gemma 4's: keys bare and sorted, strings between special tokens, no space. */
export const GEMMA_NOTATION: Notation = {
  space: '""',
  addString(rules) {
    rules.set("string", `${literal(GEMMA_QUOTE)} ${textUntil(rules, GEMMA_QUOTE)}`);
  },
  string: () => "string",
  write: writeGemma,
  key: (name) => name,
  anyKey: "[a-zA-Z_] [a-zA-Z0-9_]*",
  sorted: true,
};

function writeGemma(value: unknown): string {
  if (typeof value === "string") return GEMMA_QUOTE + value + GEMMA_QUOTE;
  if (Array.isArray(value)) return `[${value.map(writeGemma).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, item]) => `${key}:${writeGemma(item)}`).join(",")}}`;
}
