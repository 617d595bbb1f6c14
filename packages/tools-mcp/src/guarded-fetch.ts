import { isLoopback } from "./config.js";

/**
 * A `fetch` for one server, which may name others for its sign-in: they are asked over HTTPS, and a server of the public web
 * leads to none within a network. A server on this machine may name such as are on this machine too.
 */
export function guardedFetch(own: URL, inner: typeof fetch = fetch): typeof fetch {
  const inside = isInside(own.hostname);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const near = isLoopback(own.hostname) && isLoopback(url.hostname);
    const far = url.protocol === "https:" && (inside || !isInside(url.hostname));
    if (url.origin !== own.origin && !near && !far)
      throw new TypeError(`it names ${url.origin} for its sign-in, which must not be reached for it`);
    return inner(input, init);
  };
}

/** An address, or a name that only a network inside knows. */
function isInside(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  return /^\[|^[\d.]+$/.test(name) || !name.includes(".") || /\.(?:localhost|local|internal|home\.arpa)$/.test(name);
}
