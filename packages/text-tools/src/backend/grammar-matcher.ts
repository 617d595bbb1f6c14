import { type CodeRange, type Item, type Place, readGbnf } from "./gbnf-syntax.js";

/** What is still open: a place, and where to go on behind the end of its rule. */
interface Frame {
  readonly place: Place;
  readonly behind: Frame | undefined;
}

/** Places that want a character, each with what is open around it. */
type Open = ReadonlyMap<Place, ReadonlySet<Frame | undefined>>;

/**
 * Whether texts may go on so, by a grammar in GBNF: for runtimes that know no grammars. Immutable: `after` gives the
 * state behind a text. It costs a few steps a character, whatever has come before.
 */
export class GrammarMatcher {
  /** Whether the text may end here. */
  readonly complete: boolean;
  readonly #open: Open;

  private constructor(open: Open, complete: boolean) {
    this.#open = open;
    this.complete = complete;
  }

  /** At the start of a grammar. Throws SyntaxError where it is none of ours. */
  static of(grammar: string): GrammarMatcher {
    const state = new Opening();
    state.enter(readGbnf(grammar), undefined);
    return new GrammarMatcher(state.open, state.complete);
  }

  /** Behind a text; undefined where the grammar does not take it. */
  after(text: string): GrammarMatcher | undefined {
    let open = this.#open;
    let complete = this.complete;
    for (const char of text) {
      const state = new Opening();
      const code = char.codePointAt(0) ?? 0;
      for (const [place, frames] of open) {
        if (!takes(place.item, [code, code])) continue;
        for (const behind of frames) state.goOn(place.next, behind);
      }
      if (state.open.size === 0 && !state.complete) return undefined;
      open = state.open;
      complete = state.complete;
    }
    return new GrammarMatcher(open, complete);
  }

  /** Whether one of the characters in a range may come next: what half a character may become. */
  takes(range: CodeRange): boolean {
    return [...this.#open.keys()].some(({ item }) => takes(item, range));
  }
}

function takes(item: Item, [low, high]: CodeRange): boolean {
  if (item.type !== "char") return false;
  if (!item.negated) return item.ranges.some(([from, to]) => from <= high && to >= low);
  let first = low; // of those that no range has taken yet
  for (const [from, to] of item.ranges.toSorted(([a], [b]) => a - b)) {
    if (from > first) break;
    first = Math.max(first, to + 1);
  }
  return first <= high;
}

class Opening {
  readonly open = new Map<Place, Set<Frame | undefined>>();
  complete = false;
  readonly #entered = new Map<Place, Set<Frame | undefined>>();
  /** So that the same way into a rule is one frame, however often it is found. */
  readonly #frames = new Map<Place, Map<Frame | undefined, Frame>>();

  /** Behind a place; at the end of its rule behind where that was entered. */
  goOn(next: Place | undefined, behind: Frame | undefined): void {
    if (next) this.enter(next, behind);
    else if (behind) this.enter(behind.place, behind.behind);
    else this.complete = true;
  }

  enter(place: Place, behind: Frame | undefined): void {
    if (!added(this.#entered, place, behind)) return;
    if (place.item.type === "char") {
      added(this.open, place, behind);
      return;
    }
    // A rule that ends another one goes on where that one does: repetitions stay flat.
    const after = place.next ? this.#frame(place.next, behind) : behind;
    for (const way of place.item.ways) this.goOn(way, after);
  }

  #frame(place: Place, behind: Frame | undefined): Frame {
    const known = this.#frames.get(place) ?? new Map<Frame | undefined, Frame>();
    this.#frames.set(place, known);
    const frame = known.get(behind) ?? { place, behind };
    known.set(behind, frame);
    return frame;
  }
}

function added<K, V>(to: Map<K, Set<V>>, key: K, value: V): boolean {
  const values = to.get(key);
  if (!values) to.set(key, new Set([value]));
  else if (values.has(value)) return false;
  else values.add(value);
  return true;
}
