import { shownText } from "./format.js";

/** A change of one file, for showing. `undefined` is no file. */
export interface TextChange {
  path: string;
  before: string | undefined;
  after: string | undefined;
}

const CONTEXT = 3;
const MOST_STEPS = 400; // how different two texts may be before the lines between are shown as replaced whole

type Line = { kind: " " | "-" | "+"; text: string };

/** Changes in unified form, as `diff -u` writes them. Line ends that differ count as a difference. */
export function unifiedDiff(changes: readonly TextChange[]): string {
  const files = changes.map(({ path, before, after }) => {
    const head = `--- ${before === undefined ? "/dev/null" : path}\n+++ ${after === undefined ? "/dev/null" : path}`;
    return [head, ...hunks(diffLines(linesOf(before), linesOf(after)))].join("\n");
  });
  return shownText(files.join("\n"));
}

function linesOf(text: string | undefined): string[] {
  if (text === undefined || text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else lines.push(`${lines.pop()}\n\\ No newline at end of file`);
  return lines;
}

/** The lines of both, in order: kept, removed, added. */
function diffLines(a: readonly string[], b: readonly string[]): Line[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const kept = (lines: readonly string[]): Line[] => lines.map((text) => ({ kind: " ", text }));
  return [
    ...kept(a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...kept(a.slice(a.length - tail)),
  ];
}

/** The shortest way from one list to the other (Myers, "An O(ND) Difference Algorithm", 1986), if it is short enough. */
function middle(a: readonly string[], b: readonly string[]): Line[] {
  const removed = a.map((text): Line => ({ kind: "-", text }));
  const added = b.map((text): Line => ({ kind: "+", text }));
  if (a.length === 0 || b.length === 0) return [...removed, ...added];
  const trace: Map<number, number>[] = [];
  let reach = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_STEPS); d++) {
    trace.push(new Map(reach));
    const next = new Map(reach);
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, trace);
    }
    reach = next;
  }
  return [...removed, ...added];
}

function backtrack(a: readonly string[], b: readonly string[], trace: readonly Map<number, number>[]): Line[] {
  const lines: Line[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = reach.get(fromK) ?? 0;
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      x--;
      y--;
      lines.push({ kind: " ", text: a[x] ?? "" });
    }
    if (d === 0) break;
    if (down) lines.push({ kind: "+", text: b[--y] ?? "" });
    else lines.push({ kind: "-", text: a[--x] ?? "" });
  }
  return lines.reverse();
}

function hunks(lines: readonly Line[]): string[] {
  const shown: string[] = [];
  let [oldLine, newLine] = [1, 1];
  for (let i = 0; i < lines.length; ) {
    let next = i;
    while (lines[next]?.kind === " ") next++;
    if (next === lines.length) break;
    const start = Math.max(i, next - CONTEXT);
    oldLine += start - i;
    newLine += start - i;
    let end = next + 1;
    for (let quiet = 0; end < lines.length && quiet <= 2 * CONTEXT; end++)
      quiet = lines[end]?.kind === " " ? quiet + 1 : 0;
    while (end > next + 1 && lines.slice(end - CONTEXT - 1, end).every(({ kind }) => kind === " ")) end--;
    const part = lines.slice(start, end);
    const [olds, news] = ["+", "-"].map((kind) => part.filter((line) => line.kind !== kind).length);
    const range = (first: number, n = 0) => `${n === 0 ? first - 1 : first}${n === 1 ? "" : `,${n}`}`;
    shown.push(`@@ -${range(oldLine, olds)} +${range(newLine, news)} @@`);
    for (const { kind, text } of part) shown.push(kind + text);
    oldLine += olds ?? 0;
    newLine += news ?? 0;
    i = end;
  }
  return shown;
}
