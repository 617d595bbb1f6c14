import { attributeOf } from "./tags.js";

/** What a page holds and shows nobody: by the `hidden` attribute, or by its own style. */
export function isUnseen(attributes: string): boolean {
  const hidden = attributeOf(attributes, "hidden");
  if (hidden !== undefined && hidden.toLowerCase() !== "until-found") return true;
  const style = attributeOf(attributes, "style") ?? "";
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\s*(?:!|;|$)/i.test(style);
}

/** Elements without an end. */
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));

/** Those whose end need not be written: what bounds them ends them, and so does the start of another one in it. */
const BOUNDS: { readonly [name: string]: readonly string[] } = {
  li: ["ul", "ol", "menu"],
  dt: ["dl"],
  dd: ["dl"],
  tr: ["table", "tbody", "thead", "tfoot"],
  td: ["tr", "table"],
  th: ["tr", "table"],
  tbody: ["table"],
  thead: ["table"],
  tfoot: ["table"],
};

/** An element that is passed over with all in it. Costs the same at each tag, however a page is nested. */
export class Unseen {
  readonly #name: string;
  readonly #bounds: readonly string[];
  readonly #isBlock: (name: string) => boolean;
  /** How often it stands in itself, and how many of what bounds it. */
  #depth = 1;
  #inner = 0;

  private constructor(name: string, isBlock: (name: string) => boolean) {
    this.#name = name;
    this.#bounds = Object.hasOwn(BOUNDS, name) ? (BOUNDS[name] ?? []) : [];
    this.#isBlock = isBlock;
  }

  /** Undefined for what has no end, and so nothing in it. */
  static from(name: string, isBlock: (name: string) => boolean): Unseen | undefined {
    return VOID.has(name) ? undefined : new Unseen(name, isBlock);
  }

  /** Another element begins. True where it ends this one, and is none of it. */
  open(name: string): boolean {
    if (this.#name === "p" && this.#isBlock(name)) return true;
    if (this.#bounds.includes(name)) this.#inner++;
    if (name !== this.#name) return false;
    if (this.#bounds.length > 0 && this.#inner === 0) return true;
    this.#depth++;
    return false;
  }

  /** An element ends: `own` where it is this one, `outer` where it is what this one stands in. */
  close(name: string): "own" | "outer" | undefined {
    if (name === this.#name) return --this.#depth === 0 ? "own" : undefined;
    if (this.#name === "p") return this.#isBlock(name) ? "outer" : undefined;
    if (!this.#bounds.includes(name)) return undefined;
    return --this.#inner < 0 ? "outer" : undefined;
  }
}
