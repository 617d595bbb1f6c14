import type { ActivatedBy } from "@shedkit/types";

/** Which tools are active, since when (their order) and why. */
export class Activations {
  /** Those from the beginning, which other sessions may have too, and its own since something changed; in order. */
  readonly #first: ReadonlyMap<string, ActivatedBy>;
  #own: Map<string, ActivatedBy> | undefined;
  /** Of those that may be dropped: pinned tools stay anyway. */
  #lastUse: Map<string, number> | undefined;
  #clock = 0;

  constructor(first: ReadonlyMap<string, ActivatedBy>) {
    this.#first = first;
  }

  get #by(): ReadonlyMap<string, ActivatedBy> {
    return this.#own ?? this.#first;
  }

  has(name: string): boolean {
    return this.#by.has(name);
  }

  names(): IterableIterator<string> {
    return this.#by.keys();
  }

  entries(): { name: string; by: ActivatedBy }[] {
    return Array.from(this.#by, ([name, by]) => ({ name, by }));
  }

  /** Adds those that are not active yet, at the end; returns them. */
  add(names: readonly string[], by: ActivatedBy): string[] {
    const added: string[] = [];
    for (const name of names) {
      if (!this.#by.has(name)) {
        this.#own ??= new Map(this.#first);
        this.#own.set(name, by);
        added.push(name);
      }
      this.touch(name);
    }
    return added;
  }

  /** Removes those that are active; returns them. */
  remove(names: readonly string[]): string[] {
    return names.filter((name) => {
      if (!this.#by.has(name)) return false;
      this.#lastUse?.delete(name);
      this.#own ??= new Map(this.#first);
      return this.#own.delete(name);
    });
  }

  /** Notes that a tool was used or found again. */
  touch(name: string): void {
    if (this.#by.get(name) === "pin") return;
    this.#lastUse ??= new Map();
    this.#lastUse.set(name, ++this.#clock);
  }

  /** Those to drop, so that `max` stay: pinned tools and the ones used last do. */
  surplus(max: number): string[] {
    const excess = this.#by.size - max;
    if (excess <= 0) return [];
    return Array.from(this.#by)
      .filter(([, by]) => by !== "pin")
      .map(([name]) => name)
      .sort((a, b) => (this.#lastUse?.get(a) ?? 0) - (this.#lastUse?.get(b) ?? 0))
      .slice(0, excess);
  }
}
