/** Settings of which any may be left out. */
export type Settings<T> = { [K in keyof T]?: T[K] | undefined };

/** Only what is set: an `undefined` must not hide a default. */
export function given<T extends object>(settings: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const set = Object.entries(settings ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
