/** CPU time of this process so far, in microseconds: what other processes do does not count. */
export function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Bytes that are still held, on the heap and in buffers. Needs `node --expose-gc`. */
export function heap() {
  for (let i = 0; i < 3; i++) globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
