import { isMultipleOf } from "./equal.js";
import { schemaFormats } from "./formats.js";
import type { SchemaNode } from "./node.js";

/** Hears of each limit that a value breaks. */
export type Report = (keyword: string, wanted: string) => void;

export function checkNumber(node: SchemaNode, value: number, report: Report): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  if (typeof minimum === "number" && value < minimum) report("minimum", `at least ${minimum}`);
  if (typeof maximum === "number" && value > maximum) report("maximum", `at most ${maximum}`);
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    report("exclusiveMinimum", `more than ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    report("exclusiveMaximum", `less than ${exclusiveMaximum}`);
  if (typeof multipleOf === "number" && !isMultipleOf(value, multipleOf))
    report("multipleOf", `a multiple of ${multipleOf}`);
}

export function checkText(
  node: SchemaNode,
  value: string,
  matches: (source: string, text: string) => boolean | undefined,
  report: Report,
): void {
  const { minLength, maxLength, pattern, format } = node;
  if (typeof minLength === "number" || typeof maxLength === "number") {
    const length = charactersOf(value);
    if (typeof minLength === "number" && length < minLength) report("minLength", `at least ${minLength} characters`);
    if (typeof maxLength === "number" && length > maxLength) report("maxLength", `at most ${maxLength} characters`);
  }
  if (typeof pattern === "string" && matches(pattern, value) === false)
    report("pattern", `text that matches ${pattern}`);
  if (typeof format === "string" && Object.hasOwn(schemaFormats, format) && schemaFormats[format]?.(value) === false)
    report("format", `text of the format ${format}`);
}

/** Code points: what a person counts, unlike `length`. */
function charactersOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--;
      i++;
    }
  }
  return length;
}
