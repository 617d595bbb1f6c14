/**
 * GBNF of the decimal integers from `min` to `max`, without leading zeros. Bounds beyond 15 digits count as none.
 */
export function integerRange(min: number | undefined, max: number | undefined): string {
  const low = bound(min === undefined ? undefined : Math.ceil(min));
  const high = bound(max === undefined ? undefined : Math.floor(max));
  const parts: string[] = [];
  if (low === undefined || low < 0) {
    // -x lies in the range where x lies between these
    const from = high !== undefined && high < 0 ? -high : 1;
    const to = low === undefined ? undefined : -low;
    if (to === undefined || from <= to) parts.push(`"-" ( ${natural(from, to)} )`);
  }
  if (high === undefined || high >= 0) parts.push(natural(Math.max(low ?? 0, 0), high));
  return parts.join(" | ");
}

const MOST_DIGITS = 15;

function bound(value: number | undefined): number | undefined {
  return value === undefined || Math.abs(value) >= 10 ** MOST_DIGITS ? undefined : value;
}

/** Integers of zero or more. */
function natural(min: number, max: number | undefined): string {
  if (max === undefined) {
    const digits = String(min).length;
    const longer = `[1-9] [0-9]{${digits},${MOST_DIGITS}}`;
    return `${natural(min, 10 ** digits - 1)} | ${longer}`;
  }
  const parts: string[] = [];
  for (let from = min; from <= max; ) {
    const to = Math.min(max, 10 ** String(from).length - 1);
    parts.push(sameLength(String(from), String(to)));
    from = to + 1;
  }
  return parts.join(" | ");
}

/** Numbers between two that have equally many digits. */
function sameLength(low: string, high: string): string {
  if (low === "") return "";
  const rest = low.length - 1;
  if (/^0*$/.test(low.slice(1)) && /^9*$/.test(high.slice(1))) return digit(low, high) + any(rest);
  const [a, b] = [Number(low[0]), Number(high[0])];
  if (a === b) return `"${a}" ${grouped(sameLength(low.slice(1), high.slice(1)))}`.trim();
  const parts = [`"${a}" ${grouped(sameLength(low.slice(1), "9".repeat(rest)))}`];
  if (b - a > 1) parts.push(digit(String(a + 1), String(b - 1)) + any(rest));
  parts.push(`"${b}" ${grouped(sameLength("0".repeat(rest), high.slice(1)))}`);
  return parts.join(" | ");
}

function digit(low: string, high: string): string {
  return low[0] === high[0] ? `"${low[0]}"` : `[${low[0]}-${high[0]}]`;
}

function any(count: number): string {
  return count === 0 ? "" : count === 1 ? " [0-9]" : ` [0-9]{${count}}`;
}

function grouped(body: string): string {
  return body.includes("|") ? `( ${body} )` : body;
}
