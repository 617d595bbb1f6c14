/** Lines of a note that belong together. */
export interface Chunk {
  from: number;
  to: number;
  text: string;
}

const MAX_LINES = 40;
const MAX_CHARS = 2000;

/** A note in parts: a heading begins one, and none is long. */
export function chunksOf(note: string): Chunk[] {
  const chunks: Chunk[] = [];
  let lines: string[] = [];
  let [from, chars] = [1, 0];
  const close = (next: number) => {
    const text = lines.join("\n").trim();
    if (text !== "") chunks.push({ from, to: next - 1, text });
    [lines, from, chars] = [[], next, 0];
  };
  for (const [i, line] of note.split(/\r?\n/).entries()) {
    const full = lines.length >= MAX_LINES || chars + line.length > MAX_CHARS;
    if (lines.length > 0 && (full || /^#{1,6}\s/.test(line))) close(i + 1);
    lines.push(line);
    chars += line.length + 1;
  }
  close(from + lines.length);
  return chunks;
}

/** Scripts that write no spaces between words: each two neighbours count as a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** The words of a text, folded. */
function wordsOf(text: string): string[] {
  const folded = text.normalize("NFKC").toLowerCase();
  const spaced = folded.replace(UNSPACED, (run) => {
    const characters = [...run];
    const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`);
    return ` ${pairs.length > 0 ? pairs.join(" ") : run} `;
  });
  return spaced.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/**
 * How well texts fit a query, between 0 and 1: the share of the query's words that a text has, where rare words count for
 * more, and a word that only begins alike counts for half.
 */
export function scores(query: string, texts: readonly string[]): number[] {
  const terms = [...new Set(wordsOf(query))];
  const counted = texts.map((text) => {
    const counts = new Map<string, number>();
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return terms.map((term) => occurrences(term, counts));
  });
  const weights = terms.map((_, t) => {
    const having = counted.filter((counts) => (counts[t] ?? 0) > 0).length;
    return Math.log(1 + texts.length / (having + 1));
  });
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  if (whole === 0) return texts.map(() => 0);
  return counted.map((counts) => {
    const found = counts.reduce((sum, count, t) => sum + (weights[t] ?? 0) * (count / (count + 0.5)), 0);
    return found / whole;
  });
}

const ALIKE = 4; // letters

function occurrences(term: string, counts: ReadonlyMap<string, number>): number {
  const exact = counts.get(term) ?? 0;
  const lone = term.search(UNSPACED) === 0 && [...term].length === 1;
  if (exact > 0 || (term.length < ALIKE && !lone)) return exact;
  let alike = 0;
  if (lone) {
    for (const [word, count] of counts) if (word.includes(term)) alike += count / 2;
    return alike;
  }
  for (const [word, count] of counts) {
    if (word.length >= ALIKE && (word.startsWith(term) || term.startsWith(word))) alike += count / 2;
  }
  return alike;
}
