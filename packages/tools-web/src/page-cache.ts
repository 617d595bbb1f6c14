import type { Page } from "./page.js";

const MOST = 128;
const MAX_BYTES = 32 * 1024 * 1024;

interface Kept {
  page: Page;
  at: number;
  bytes: number;
}

/** Pages that were loaded lately, by the address that was asked for: no more than so many, and no more than so large. */
export class PageCache {
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param now A clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A page that is not older than `maxAgeMs`, nor than its server allows, with its age. */
  get(address: string, maxAgeMs: number): { page: Page; ageMs: number } | undefined {
    const kept = this.#kept.get(address);
    if (!kept) return undefined;
    const ageMs = this.#now() - kept.at;
    if (ageMs >= Math.min(maxAgeMs, kept.page.freshMs)) {
      if (ageMs >= kept.page.freshMs) this.#drop(address);
      return undefined;
    }
    this.#kept.delete(address);
    this.#kept.set(address, kept); // the latest last
    return { page: kept.page, ageMs };
  }

  /** Keeps a page that is whole, and that its server lets be kept. */
  set(address: string, page: Page): void {
    this.#drop(address);
    const bytes = 2 * (address.length + page.url.length + (page.title?.length ?? 0) + page.text.length);
    if (page.truncated || page.freshMs <= 0 || bytes > MAX_BYTES) return;
    this.#kept.set(address, { page, at: this.#now(), bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST && this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(address: string): void {
    this.#bytes -= this.#kept.get(address)?.bytes ?? 0;
    this.#kept.delete(address);
  }
}

/**
 * How long an answer may be shown again, in milliseconds, by its own headers; without end where it does not say so. This
 * machine's clock is not asked: a date in it may be wrong.
 */
export function freshMs(headers: { readonly [name: string]: string | undefined }): number {
  const control = headers["cache-control"]?.toLowerCase() ?? "";
  if (/(?:^|[\s,])no-(?:store|cache)(?:[\s,=]|$)/.test(control)) return 0;
  const seconds = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,10})/.exec(control)?.[1];
  if (seconds === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, Number(seconds) - (Number(headers.age) || 0)) * 1000;
}
