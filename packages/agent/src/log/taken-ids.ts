/** Nothing is ever written to it. */
const NONE = new Uint32Array(1);

/**
 * Remembers ids by a number of each, at some five bytes an id: a session may have many thousands. That an id is taken may
 * be said of one that is not, once in some millions; never the other way round.
 */
export class TakenIds {
  /** Numbers of ids, each at the first free place from where it belongs on; 0 is a free place. */
  #places = NONE;
  #count = 0;

  add(id: string): void {
    if ((this.#count + 1) * 5 > this.#places.length * 4) this.#grow();
    if (put(this.#places, numberOf(id))) this.#count++;
  }

  has(id: string): boolean {
    const number = numberOf(id);
    return this.#places[placeOf(this.#places, number)] === number;
  }

  #grow(): void {
    const places = new Uint32Array(Math.max(16, this.#places.length * 2));
    for (const number of this.#places) if (number !== 0) put(places, number);
    this.#places = places;
  }
}

/** False where it is there already. */
function put(places: Uint32Array, number: number): boolean {
  const place = placeOf(places, number);
  if (places[place] === number) return false;
  places[place] = number;
  return true;
}

/** Where a number is, or would be. There is always a free place. */
function placeOf(places: Uint32Array, number: number): number {
  const last = places.length - 1;
  let place = number & last;
  while (places[place] !== 0 && places[place] !== number) place = (place + 1) & last;
  return place;
}

function numberOf(id: string): number {
  let number = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) number = Math.imul(number ^ id.charCodeAt(i), 0x01000193);
  number = Math.imul(number ^ (number >>> 15), 0x2c1b3c6d); // the low digits decide the place
  return (number ^ (number >>> 13)) >>> 0 || 1;
}
