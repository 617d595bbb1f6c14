/** CPU time of this process so far, in microseconds: what other processes do does not count. */
export function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}

export function median(values) {
  return quantile(values, 0.5);
}

/** The median and the quartiles of some values; undefined of none. */
export function stat(values) {
  if (values.length === 0) return undefined;
  return { median: median(values), low: quantile(values, 0.25), high: quantile(values, 0.75), count: values.length };
}

/** Bytes that are still held, on the heap and in buffers. Needs `node --expose-gc`. */
export function heap() {
  if (globalThis.gc === undefined) throw new Error("Run with node --expose-gc: memory is measured after a collection.");
  for (let i = 0; i < 3; i++) globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Runs something: CPU and wall time, in milliseconds, and what it gave. */
export async function timed(run) {
  const [startCpu, start] = [cpu(), performance.now()];
  const result = await run();
  return { wall: performance.now() - start, cpu: (cpu() - startCpu) / 1000, result };
}
