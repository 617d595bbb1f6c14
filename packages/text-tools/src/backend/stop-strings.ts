/** Ends a text before the one of some strings that is whole first, however the text is cut. */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = "";
  /** Whether one was met: nothing more will be let through. */
  met = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
  }

  /** What of the text so far certainly comes before any of them. */
  push(text: string): string {
    if (this.met || this.#stops.length === 0) return this.met ? "" : text;
    this.#held += text;
    const met = this.#stops
      .map((stop) => ({ at: this.#held.indexOf(stop), length: stop.length }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at + a.length - b.at - b.length || a.at - b.at)[0];
    if (met) {
      this.met = true;
      return this.#release(met.at);
    }
    return this.#release(this.#held.length - Math.max(...this.#stops.map((stop) => overlap(this.#held, stop))));
  }

  end(): string {
    return this.met ? "" : this.#release(this.#held.length);
  }

  #release(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }
}

function overlap(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
