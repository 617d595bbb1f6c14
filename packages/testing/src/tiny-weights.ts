/** Numbers in [0, 1). */
export type Generator = () => number;

/** The same numbers for the same seed. */
export function generator(seed: number): Generator {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Throws RangeError where a piece cannot be a token that leads to one next piece. */
export function checkPieces(says: readonly string[]): void {
  says.forEach((piece, i) => {
    if (piece.length < 2) throw new RangeError(`says[${i}] must have two characters or more; got "${piece}".`);
    if (says.indexOf(piece) !== i)
      throw new RangeError(`says[${i}] repeats "${piece}": a piece leads to one next piece.`);
  });
}
