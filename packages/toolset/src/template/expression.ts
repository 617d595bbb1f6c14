import { TemplateFault } from "./fault.js";

/** What a template may look at. */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly TemplateValue[]
  | { readonly [name: string]: TemplateValue };

/** The names that a template may use. */
export interface TemplateContext {
  readonly [name: string]: TemplateValue;
}

export type Expression = (context: TemplateContext) => TemplateValue;

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_][A-Za-z0-9_-]*)|(==|!=|[().,|]))/y;

/**
 * Reads an expression: names with dots, texts, numbers, `true`, `false`, `none`, `==`, `!=`, `and`, `or`, `not`,
 * `is defined`, `is not defined`, `| default(x)`, parentheses. Throws {@link TemplateFault}.
 */
export function parseExpression(text: string): Expression {
  const parser = new Parser(tokensOf(text), text);
  const expression = parser.either();
  parser.end();
  return expression;
}

/** What counts as true. */
export function isTrue(value: TemplateValue): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  let end = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    tokens.push(match[0].trim());
    end = TOKEN.lastIndex;
  }
  if (text.slice(end).trim() !== "") throw new TemplateFault(`cannot read ${JSON.stringify(text.slice(end).trim())}`);
  return tokens;
}

const WORDS: ReadonlyMap<string, TemplateValue> = new Map<string, TemplateValue>([
  ["true", true],
  ["false", false],
  ["none", null],
]);

class Parser {
  readonly #tokens: readonly string[];
  readonly #text: string;
  #at = 0;

  constructor(tokens: readonly string[], text: string) {
    this.#tokens = tokens;
    this.#text = text.trim();
  }

  end(): void {
    if (this.#at < this.#tokens.length) throw this.#fault();
  }

  either(): Expression {
    let left = this.#both();
    while (this.#take("or")) {
      const first = left;
      const second = this.#both();
      left = (context) => (isTrue(first(context)) ? first(context) : second(context));
    }
    return left;
  }

  #both(): Expression {
    let left = this.#negated();
    while (this.#take("and")) {
      const first = left;
      const second = this.#negated();
      left = (context) => (isTrue(first(context)) ? second(context) : first(context));
    }
    return left;
  }

  #negated(): Expression {
    if (!this.#take("not")) return this.#compared();
    const inner = this.#negated();
    return (context) => !isTrue(quiet(inner, context));
  }

  #compared(): Expression {
    const left = this.#filtered();
    if (this.#take("==")) {
      const right = this.#filtered();
      return (context) => quiet(left, context) === quiet(right, context);
    }
    if (this.#take("!=")) {
      const right = this.#filtered();
      return (context) => quiet(left, context) !== quiet(right, context);
    }
    if (!this.#take("is")) return left;
    const negated = this.#take("not");
    if (!this.#take("defined")) throw this.#fault();
    return (context) => (quiet(left, context) !== undefined) !== negated;
  }

  #filtered(): Expression {
    let value = this.#plain();
    while (this.#take("|")) {
      if (!(this.#take("default") && this.#take("("))) throw this.#fault();
      const inner = value;
      const fallback = this.either();
      if (!this.#take(")")) throw this.#fault();
      value = (context) => quiet(inner, context) ?? fallback(context);
    }
    return value;
  }

  #plain(): Expression {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw this.#fault();
    if (token === "(") {
      const inner = this.either();
      if (!this.#take(")")) throw this.#fault();
      return inner;
    }
    if (/^["']/.test(token)) {
      const text = token.slice(1, -1).replace(/\\(.)/gs, "$1");
      return () => text;
    }
    if (/^\d/.test(token)) return () => Number(token);
    if (WORDS.has(token)) return () => WORDS.get(token);
    if (!/^[A-Za-z_]/.test(token)) throw this.#fault();
    const steps = [token];
    while (this.#take(".")) {
      const step = this.#tokens[this.#at++];
      if (step === undefined || !/^\w/.test(step)) throw this.#fault();
      steps.push(step);
    }
    return (context) => lookUp(context, steps);
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #fault(): TemplateFault {
    return new TemplateFault(`cannot read the expression ${JSON.stringify(this.#text)}`);
  }
}

/** The last name may be missing, and is then undefined; one before it may not. */
function lookUp(context: TemplateContext, steps: readonly string[]): TemplateValue {
  let value: TemplateValue = context;
  for (const [i, step] of steps.entries()) {
    if (typeof value !== "object" || value === null) throw new Undefined(steps.slice(0, i).join("."));
    value = Object.hasOwn(value, step) ? (value as TemplateContext)[step] : undefined;
  }
  return value;
}

class Undefined extends TemplateFault {
  constructor(name: string) {
    super(`"${name}" is not defined`);
  }
}

/** A value that is asked for to see whether it is there. */
export function quiet(expression: Expression, context: TemplateContext): TemplateValue {
  try {
    return expression(context);
  } catch (e) {
    if (e instanceof Undefined) return undefined;
    throw e;
  }
}
