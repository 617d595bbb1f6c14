/** Runs something that reports by callback; yields the reports as they come, returns what it comes to. */
export async function* reported<R, T>(run: (report: (item: R) => void) => Promise<T>): AsyncGenerator<R, T, void> {
  const items: R[] = [];
  let wake: () => void = () => undefined;
  let ended = false;
  const result = run((item) => {
    items.push(item);
    wake();
  }).finally(() => {
    ended = true;
    wake();
  });
  result.catch(() => undefined); // awaited below
  while (!ended || items.length > 0) {
    const item = items.shift();
    if (item !== undefined) yield item;
    else if (!ended) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return await result;
}
