/** The `count` items with the highest scores, best first. Costs little more than one look at each item. */
export function best<T>(items: Iterable<T>, count: number, scoreOf: (item: T) => number): T[] {
  if (count <= 0) return [];
  // A heap with the worst of the best on top.
  const heap: { item: T; score: number }[] = [];
  for (const item of items) {
    const score = scoreOf(item);
    if (heap.length < count) {
      heap.push({ item, score });
      siftUp(heap);
    } else if (score > (heap[0] as { score: number }).score) {
      heap[0] = { item, score };
      siftDown(heap);
    }
  }
  return heap.sort((a, b) => b.score - a.score).map(({ item }) => item);
}

type Heap = { score: number }[];

function siftUp(heap: Heap): void {
  let at = heap.length - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!swapIfLower(heap, at, parent)) return;
    at = parent;
  }
}

function siftDown(heap: Heap): void {
  let at = 0;
  while (true) {
    const left = 2 * at + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const lower = right < heap.length && scoreAt(heap, right) < scoreAt(heap, left) ? right : left;
    if (!swapIfLower(heap, lower, at)) return;
    at = lower;
  }
}

/** Puts the lower of the two above. */
function swapIfLower(heap: Heap, child: number, parent: number): boolean {
  if (scoreAt(heap, child) >= scoreAt(heap, parent)) return false;
  [heap[child], heap[parent]] = [heap[parent] as { score: number }, heap[child] as { score: number }];
  return true;
}

function scoreAt(heap: Heap, at: number): number {
  return (heap[at] as { score: number }).score;
}
