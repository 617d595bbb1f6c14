const BINS = 1024;

/**
 * The slots with the highest scores, `count` of them where there are as many, in no order. Scores are above 0. Two
 * looks at each slot, whatever the count.
 */
export function best(slots: Int32Array, count: number, scores: Float64Array, highest: number): number[] {
  const perScore = (BINS - 1) / highest; // the quotient is rounded: the highest score may fall just past the last bin
  const bins = new Uint32Array(BINS);
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as number;
    const bin = Math.min(BINS - 1, (scores[slot] as number) * perScore) | 0;
    bins[bin] = (bins[bin] as number) + 1;
  }
  let lowest = BINS - 1; // the bin that still has some of the best, and how many of it they are
  let above = 0;
  while (lowest > 0 && above + (bins[lowest] as number) < count) above += bins[lowest--] as number;
  const found: number[] = [];
  let left = count - above;
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as number;
    const bin = Math.min(BINS - 1, (scores[slot] as number) * perScore) | 0;
    if (bin > lowest || (bin === lowest && left-- > 0)) found.push(slot);
  }
  return found;
}
