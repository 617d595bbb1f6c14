import type { ActivatedBy } from "@shedkit/types";

/** Which tools are active, since when (their order) and why. */
export class Activations {
  readonly #by = new Map<string, ActivatedBy>(); // in order of activation
  readonly #lastUse = new Map<string, number>();
  #clock = 0;

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
      this.touch(name);
      if (this.#by.has(name)) continue;
      this.#by.set(name, by);
      added.push(name);
    }
    return added;
  }

  /** Removes those that are active; returns them. */
  remove(names: readonly string[]): string[] {
    return names.filter((name) => {
      this.#lastUse.delete(name);
      return this.#by.delete(name);
    });
  }

  /** Notes that a tool was used or found again. */
  touch(name: string): void {
    this.#lastUse.set(name, ++this.#clock);
  }

  /** Those to drop, so that `max` stay: pinned tools and the ones used last do. */
  surplus(max: number): string[] {
    const excess = this.#by.size - max;
    if (excess <= 0) return [];
    return Array.from(this.#by)
      .filter(([, by]) => by !== "pin")
      .map(([name]) => name)
      .sort((a, b) => (this.#lastUse.get(a) ?? 0) - (this.#lastUse.get(b) ?? 0))
      .slice(0, excess);
  }
}
