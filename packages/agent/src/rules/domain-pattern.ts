import type { Care } from "./rule.js";

/** `domain:example.com`, or `domain:*.example.com` for the hosts below it. */
export class DomainPattern {
  readonly #domain: string;
  /** Hosts below it count, itself does not. */
  readonly #below: boolean;

  private constructor(domain: string, below: boolean) {
    this.#domain = domain;
    this.#below = below;
  }

  /** Undefined where it is none. */
  static of(pattern: string): DomainPattern | undefined {
    const [, wild, name = ""] = /^(?:domain:)?\s*(\*\.)?([^\s/@?#\\:*]+)$/i.exec(pattern) ?? [];
    const domain = name === "" ? undefined : hostName(name);
    return domain === undefined ? undefined : new DomainPattern(domain, wild !== undefined);
  }

  /** Leave for a host is for it alone; a ban goes for all that is below it. */
  fits(host: string, care: Care): boolean {
    const name = hostName(host);
    if (name === undefined) return false;
    if (name === this.#domain && !this.#below) return true;
    return (this.#below || care === "wide") && name.endsWith(`.${this.#domain}`);
  }
}

/** A host without its port, as browsers write it: lower case, `xn--`, no dot at the end. */
function hostName(host: string): string | undefined {
  const url = `http://${host}`;
  if (!URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/\.$/, "");
}
