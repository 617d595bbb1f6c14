/** A text with its CRLFs read as LF, and the way back from its places to those of the text itself. */
export class LfView {
  readonly text: string;
  /** Places of the line feeds, in `text`, that have a carriage return before them. */
  readonly #returns: number[] = [];

  constructor(text: string) {
    for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) {
      this.#returns.push(at - this.#returns.length);
    }
    this.text = this.#returns.length === 0 ? text : text.replaceAll("\r\n", "\n");
  }

  /** The place in the text itself; that of a CRLF's line feed is the carriage return's. */
  original(place: number): number {
    let low = 0;
    let high = this.#returns.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#returns[middle] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return place + low;
  }
}
