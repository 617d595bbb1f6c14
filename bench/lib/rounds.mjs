import { median, stat } from "./measure.mjs";

/**
 * Asks all in turn, round after round, so that what the machine does meanwhile meets all; each second round backwards.
 * `ask(name, round)` gives an object of numbers. Rounds below zero warm up. One that fails is left out, with its fault.
 * Past `ms` no round begins that would not be done by then, going by the last one; but `least` are always done.
 * Who takes longer than `patience` in one is asked no more.
 */
export async function inTurn(names, rounds, ask, options = {}) {
  const { warm = 1, least = 3, ms = Number.POSITIVE_INFINITY, patience = Number.POSITIVE_INFINITY } = options;
  const got = Object.fromEntries(names.map((name) => [name, []]));
  const faults = {};
  const slow = new Set();
  const begun = performance.now();
  let last = 0;
  for (let round = -warm; round < rounds; round++) {
    const start = performance.now();
    if (round >= least && start - begun + last > ms) break;
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      if (faults[name] || slow.has(name)) continue;
      const asked = performance.now();
      try {
        const values = await ask(name, round);
        if (round >= 0) got[name].push(values);
        if (round >= 0 && performance.now() - asked > patience) slow.add(name);
      } catch (fault) {
        faults[name] = `${fault.message}`.split("\n").slice(0, 3).join(" ");
      }
    }
    last = performance.now() - start;
  }
  return { got, faults };
}

/** Of one figure in all rounds: the median with its quartiles, and the median of the ratios to another of the same round. */
export function figures(got, key, base) {
  return Object.fromEntries(
    Object.entries(got).map(([name, rounds]) => {
      const values = rounds.map((round) => round[key]);
      const ratios = values.map((value, i) => value / got[base]?.[i]?.[key]).filter(Number.isFinite);
      const found = stat(values.filter(Number.isFinite));
      return [name, found && { ...found, ratio: ratios.length > 0 ? median(ratios) : undefined }];
    }),
  );
}
