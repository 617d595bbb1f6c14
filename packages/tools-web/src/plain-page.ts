import { attributeOf, tokensOf } from "./tags.js";
import { isUnseen, Unseen } from "./unseen.js";

/** What a person does not read. */
const HIDDEN = new Set("template object embed svg math canvas nav footer button select datalist".split(" "));

/** Some pages show themselves only once their scripts have run. */
const WHOLE = new Set(["html", "body"]);

/** What is kept of a page, and the attributes that matter. */
const KEPT: ReadonlyMap<string, readonly string[]> = new Map([
  ...words(
    "h1 h2 h3 h4 h5 h6 p blockquote pre ul li b strong i em code del s hr br table thead tbody tfoot tr th td dl dt dd " +
      "sup sub caption figcaption",
  ).map((name): [string, string[]] => [name, []]),
  ["a", ["href"]],
  ["img", ["src", "alt"]],
  ["ol", ["start"]],
  ["code", ["class"]],
]);
/** What stands by itself, and is nothing more to a reader. */
const BLOCKS = new Set(
  words("div article section main header aside address figure form fieldset details summary center body html head"),
);
const VOID = new Set(["br", "hr", "img"]);

/** What the start of an element ends, if it is open; but not beyond what bounds it. */
const ENDS: { readonly [name: string]: { ends: readonly string[]; bounds: readonly string[] } } = {
  li: { ends: ["li"], bounds: ["ul", "ol"] },
  dt: { ends: ["dt", "dd"], bounds: ["dl"] },
  dd: { ends: ["dt", "dd"], bounds: ["dl"] },
  td: { ends: ["td", "th"], bounds: ["tr", "table"] },
  th: { ends: ["td", "th"], bounds: ["tr", "table"] },
  tr: { ends: ["tr"], bounds: ["table"] },
  thead: { ends: ["thead", "tbody", "tfoot"], bounds: ["table"] },
  tbody: { ends: ["thead", "tbody", "tfoot"], bounds: ["table"] },
  tfoot: { ends: ["thead", "tbody", "tfoot"], bounds: ["table"] },
  a: { ends: ["a"], bounds: ["td", "th", "table"] },
};
const CLOSES_P = new Set(
  words(
    "h1 h2 h3 h4 h5 h6 p blockquote pre ul ol li hr table thead tbody tfoot tr td th dl dt dd caption " + "figcaption",
  ),
);
const P = { ends: ["p", "div"], bounds: ["td", "th", "table", "li", "blockquote"] };

/** Deeper than pages are. */
const MAX_DEPTH = 24;
/** What is more is text alone: the converter looks at each for a while, and nothing else runs meanwhile. */
const MAX_ELEMENTS = 12_000;
const MAX_ATTRIBUTE = 2000; // characters
const AT_ONCE = 10_000; // tokens

// Its work grows with the square of what it gets at once: a part ends where nothing is open, or at the latest here.
const PART = { elements: 300, chars: 20_000 };
const MAX_PART = { elements: 500, chars: 50_000 };

/** So many spaces, or entities that may be some, need not stand one behind the other. */
const MAX_RUN = 50;
const ENTITIES = new RegExp(`((?:&\\w{1,32};?\\s?){${MAX_RUN}})(?:&\\w{1,32};?\\s?)+`, "g");
const SPACES = new RegExp(`(\\s{${MAX_RUN}})\\s+`, "g");

/**
 * A page in parts, which mean the same to a reader: few kinds of elements, each closed where it belongs, not too deep, not
 * too many. However a page was made, the work with the parts grows no faster than it does. `breathe` is called now and then, for
 * others to get their turn.
 */
export async function plainPage(page: string, breathe: () => Promise<void>): Promise<readonly string[]> {
  const tidy = new Tidy();
  let count = 0;
  for (const token of tokensOf(page)) {
    if (++count % AT_ONCE === 0) await breathe();
    if (token.type === "text") tidy.text(token.text);
    else if (token.type === "open") tidy.open(token.name, token.attributes);
    else tidy.close(token.name);
  }
  return tidy.end();
}

/** An element that is open, with its start. */
interface Open {
  name: string;
  tag: string;
}

class Tidy {
  readonly #parts: string[] = [];
  #pieces: string[] = [];
  #part = { elements: 0, chars: 0 };
  readonly #stack: Open[] = [];
  /** How many of each are open. */
  readonly #open = new Map<string, number>();
  /** What is passed over with all in it. */
  #hidden: Unseen | undefined;
  /** What comes next stands by itself. */
  #apart = false;
  #elements = 0;

  text(text: string): void {
    if (this.#hidden) return;
    const decoded = text.replace(/&#(?:(\d{1,7})|x([\da-f]{1,6}));?/gi, (all, decimal?: string, hex?: string) =>
      characterOf(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal), all),
    );
    const shorter = decoded.replace(ENTITIES, "$1");
    const clean = this.#isOpen("pre") ? shorter.replace(SPACES, "$1") : shorter.replace(/\s+/g, " ");
    if (clean === " " && this.#pieces.at(-1) === " ") return;
    if (clean.trim() !== "") this.#begin();
    for (let at = 0; at < clean.length; ) {
      const space = clean.lastIndexOf(" ", at + MAX_PART.chars);
      const end = clean.length - at <= MAX_PART.chars || space <= at ? at + MAX_PART.chars : space;
      this.#push(clean.slice(at, end));
      at = end;
    }
  }

  open(name: string, attributes: string): void {
    if (this.#hidden) {
      if (!this.#hidden.open(name)) return;
      this.#hidden = undefined;
    }
    if (HIDDEN.has(name) || (!WHOLE.has(name) && isUnseen(attributes))) {
      this.#hidden = Unseen.from(name, isBlock);
      return;
    }
    if (BLOCKS.has(name)) this.#block();
    const wanted = KEPT.get(name);
    if (!wanted) return;
    const apart = CLOSES_P.has(name);
    if (apart) this.#block();
    const ends = ENDS[name];
    if (ends) this.#end(ends);
    if (this.#stack.length >= MAX_DEPTH || this.#elements >= MAX_ELEMENTS) {
      this.text(" ");
      return;
    }
    const own = wanted.flatMap((attribute) => {
      const value = attributeOf(attributes, attribute);
      if (value === undefined || value.length > MAX_ATTRIBUTE) return [];
      return [` ${attribute}="${value.replaceAll('"', "&quot;").replaceAll("<", "&lt;")}"`];
    });
    const tag = `<${name}${own.join("")}>`;
    if (apart) this.#wrapping({ name, tag });
    else {
      this.#begin();
      this.#start({ name, tag });
    }
  }

  close(name: string): void {
    const end = this.#hidden?.close(name);
    if (end !== undefined) this.#hidden = undefined;
    if (this.#hidden || end === "own") return;
    if (BLOCKS.has(name)) this.#block();
    else if (this.#isOpen(name)) this.#closeTo(this.#stack.findLastIndex((open) => open.name === name));
  }

  end(): readonly string[] {
    this.#closeTo(0);
    return [...this.#parts, this.#pieces.join("")];
  }

  /** Something that stands by itself begins or ends. */
  #block(): void {
    if (this.#isOpen("pre")) {
      this.text("\n");
      return;
    }
    this.#end(P);
    this.#apart = true;
    const { elements, chars } = this.#part;
    if (this.#stack.length === 0 && (elements > PART.elements || chars > PART.chars)) this.#split();
  }

  /** Before what stands in a line: an element of its own, where something that stands by itself began or ended. */
  #begin(): void {
    if (!this.#apart) return;
    this.#apart = false;
    const inBlock = this.#stack.findLast(({ name }) => CLOSES_P.has(name))?.name;
    const full = this.#stack.length >= MAX_DEPTH || this.#elements >= MAX_ELEMENTS;
    if (full || /^(?:p|h\d|pre|dt|caption)$/.test(inBlock ?? "")) this.text(" ");
    else this.#wrapping({ name: "div", tag: "<div>" });
  }

  /** Starts a block. What is open in the line, such as a link, is open in the block instead. */
  #wrapping(block: Open): void {
    this.#apart = false;
    const from = this.#stack.findLastIndex(({ name }) => CLOSES_P.has(name) || name === "div") + 1;
    const inline = VOID.has(block.name) ? [] : this.#stack.slice(from);
    this.#closeTo(from);
    this.#start(block);
    for (const one of inline) this.#start(one);
  }

  #start(open: Open): void {
    this.#elements++;
    this.#part.elements++;
    this.#push(open.tag);
    if (!VOID.has(open.name)) this.#add(open);
  }

  #add(open: Open): void {
    this.#stack.push(open);
    this.#open.set(open.name, (this.#open.get(open.name) ?? 0) + 1);
  }

  #push(piece: string): void {
    this.#part.chars += piece.length;
    if (this.#part.chars > MAX_PART.chars || this.#part.elements > MAX_PART.elements) this.#split();
    this.#pieces.push(piece);
  }

  /** Begins a new part; what is open is open in it again. */
  #split(): void {
    const open = [...this.#stack];
    this.#closeTo(0);
    this.#parts.push(this.#pieces.join(""));
    this.#pieces = open.map(({ tag }) => tag);
    this.#part = { elements: open.length, chars: 0 };
    for (const one of open) this.#add(one);
  }

  #isOpen(name: string): boolean {
    return (this.#open.get(name) ?? 0) > 0;
  }

  #end({ ends, bounds }: { ends: readonly string[]; bounds: readonly string[] }): void {
    if (!ends.some((name) => this.#isOpen(name))) return;
    const place = this.#stack.findLastIndex(({ name }) => ends.includes(name) || bounds.includes(name));
    if (ends.includes(this.#stack[place]?.name ?? "")) this.#closeTo(place);
  }

  #closeTo(place: number): void {
    while (this.#stack.length > place) {
      const { name } = this.#stack.pop() ?? { name: "" };
      this.#open.set(name, (this.#open.get(name) ?? 1) - 1);
      this.#pieces.push(`</${name}>`);
    }
  }
}

function isBlock(name: string): boolean {
  return BLOCKS.has(name) || CLOSES_P.has(name);
}

function characterOf(code: number, otherwise: string): string {
  if (code < 0x20 && code !== 9 && code !== 10) return "";
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || (code >= 0x80 && code < 0xa0)) return otherwise;
  const character = String.fromCodePoint(code);
  return { "<": "&lt;", ">": "&gt;", "&": "&amp;" }[character] ?? character;
}

function words(text: string): string[] {
  return text.split(" ");
}
