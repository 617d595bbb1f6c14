import { HttpError } from "./http-error.js";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Decides whose requests are answered: by the name they call us, where they come from, and what they bring. */
export class Guard {
  readonly #token: string;
  readonly #hosts: ReadonlySet<string>;
  /**
   * What the cookie of a browser holds that brought the token once. It follows from the token, which does not follow from it:
   * a server that is started again with its token knows its browsers.
   */
  #cookie: Promise<string> | undefined;

  constructor(token: string, hosts: readonly string[]) {
    this.#token = token;
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /** Throws HttpError where a page of another origin, or a name that was made to point here, is behind a request. */
  checkOrigin(request: Request): void {
    const host = hostOf(request);
    const name = host.replace(/:\d+$/, "");
    if (!LOOPBACK.test(name) && !this.#hosts.has(name)) {
      throw new HttpError(403, "hostRefused", `This server does not go by the name "${name}".`);
    }
    const origin = request.headers.get("origin");
    if (origin !== null && originHost(origin) !== host) {
      throw new HttpError(403, "originRefused", "Pages of other origins may not use this server.");
    }
  }

  /** Throws HttpError where a request brings neither the token nor a cookie given for it. */
  async checkToken(request: Request): Promise<void> {
    const bearer = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (bearer !== undefined && (await this.isToken(bearer))) return;
    if (bearer === undefined && (await this.#hasCookie(request))) return;
    const message =
      bearer === undefined
        ? "A token is needed: open the address that the server printed, or send it as Authorization: Bearer."
        : "The token is not the one of this server.";
    throw new HttpError(401, "unauthorized", message);
  }

  isToken(text: string): Promise<boolean> {
    return same(text, this.#token);
  }

  /** The header that lets a browser in from now on. */
  async cookieFor(request: Request): Promise<string> {
    const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
    return `${cookieName(request)}=${await this.#cookieText()}; Path=/; HttpOnly; SameSite=Strict${secure}`;
  }

  /** A browser sends its cookie along with what other sites make it ask for; those requests say so. */
  async #hasCookie(request: Request): Promise<boolean> {
    const site = request.headers.get("sec-fetch-site");
    if (site === "cross-site" || site === "same-site") return false;
    const name = cookieName(request);
    for (const part of (request.headers.get("cookie") ?? "").split(";")) {
      const [key, value] = part.trim().split("=", 2);
      if (key === name && value !== undefined && (await same(value, await this.#cookieText()))) return true;
    }
    return false;
  }

  #cookieText(): Promise<string> {
    this.#cookie ??= digest(`cookie ${this.#token}`).then((bytes) =>
      Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    );
    return this.#cookie;
  }
}

function hostOf(request: Request): string {
  return (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Cookies know no ports: two servers on one machine need two names. */
function cookieName(request: Request): string {
  return `shedkit_${/:(\d+)$/.exec(hostOf(request))?.[1] ?? "0"}`;
}

/** Compares digests, so that the time it takes tells nothing of the texts. */
async function same(a: string, b: string): Promise<boolean> {
  const [x, y] = await Promise.all([digest(a), digest(b)]);
  let difference = 0;
  for (const [i, byte] of x.entries()) difference |= byte ^ (y[i] ?? 0);
  return difference === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
