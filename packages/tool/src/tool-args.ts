import type { JsonValue, ToolArguments } from "@shedkit/types";
import { ToolError } from "./error.js";
import { showIssues, showValue } from "./issues.js";
import { BOOLEANS, numberOf } from "./repair.js";
import { evalFreeValidator } from "./schema/validator.js";
import type { Infer, TypedSchema } from "./schema.js";

/**
 * Reads the arguments of a call by name and kind. Every method throws ToolError `invalidArguments` naming the
 * parameter by the name that the client gave it; the `opt` forms take a missing one and `null` as undefined. A number or a truth value may be written as
 * text.
 */
export class ToolArgs {
  readonly #tool: string;
  readonly #args: ToolArguments;
  readonly #paramName: (canonical: string) => string;

  /** `paramName` gives the client's name for a parameter, for the errors. Default: its own. */
  constructor(tool: string, args: ToolArguments, paramName: (canonical: string) => string = (canonical) => canonical) {
    this.#tool = tool;
    this.#args = args;
    this.#paramName = paramName;
  }

  str(key: string): string {
    return this.#need(key, this.optStr(key), "a string");
  }

  /** A whole number. */
  int(key: string): number {
    return this.#need(key, this.optInt(key), "a whole number");
  }

  /** A whole number, 0 or more. */
  nat(key: string): number {
    return this.#need(key, this.optNat(key), "a whole number, 0 or more");
  }

  num(key: string): number {
    return this.#need(key, this.optNum(key), "a number");
  }

  bool(key: string): boolean {
    return this.#need(key, this.optBool(key), "true or false");
  }

  optStr(key: string): string | undefined {
    return this.#take(key, "a string", (value) => (typeof value === "string" ? value : undefined));
  }

  optInt(key: string): number | undefined {
    return this.#take(key, "a whole number", wholeOf);
  }

  optNat(key: string): number | undefined {
    return this.#take(key, "a whole number, 0 or more", (value) => {
      const whole = wholeOf(value);
      return whole !== undefined && whole >= 0 ? whole : undefined;
    });
  }

  optNum(key: string): number | undefined {
    return this.#take(key, "a number", numberFrom);
  }

  optBool(key: string): boolean | undefined {
    return this.#take(key, "true or false", (value) => {
      if (typeof value !== "string") return typeof value === "boolean" ? value : undefined;
      const text = value.trim().toLowerCase();
      return Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined;
    });
  }

  /** Whatever stands there; undefined where nothing does. */
  optValue(key: string): JsonValue | undefined {
    return Object.hasOwn(this.#args, key) ? this.#args[key] : undefined;
  }

  /** All arguments, as the schema types them. */
  parse<S extends TypedSchema>(schema: S): Infer<S> {
    const issues = evalFreeValidator
      .compile(schema)(this.#args)
      .map((issue) => {
        const [key = "", ...inner] = issue.path.split(".");
        return { ...issue, path: [key === "" ? "" : this.#paramName(key), ...inner].join(".") };
      });
    if (issues.length > 0) throw this.#invalid(`The arguments of ${this.#tool} do not fit:\n${showIssues(issues)}`);
    return this.#args as Infer<S>;
  }

  #need<T>(key: string, value: T | undefined, wanted: string): T {
    if (value === undefined)
      throw this.#invalid(`${this.#tool} needs "${this.#paramName(key)}": ${wanted}, got nothing.`);
    return value;
  }

  #take<T>(key: string, wanted: string, read: (value: JsonValue) => T | undefined): T | undefined {
    const value = this.optValue(key);
    if (value === undefined || value === null) return undefined;
    const taken = read(value);
    if (taken === undefined)
      throw this.#invalid(`${this.#tool} needs "${this.#paramName(key)}": ${wanted}, got ${showValue(value)}.`);
    return taken;
  }

  #invalid(message: string): ToolError {
    return new ToolError("invalidArguments", this.#tool, message);
  }
}

function numberFrom(value: JsonValue): number | undefined {
  if (typeof value === "string") return numberOf(value.trim());
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function wholeOf(value: JsonValue): number | undefined {
  const number = numberFrom(value);
  return Number.isSafeInteger(number) ? number : undefined;
}
