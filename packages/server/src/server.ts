import { MemoryStorage } from "@shedkit/store";
import { AgenticError } from "@shedkit/types";
import { type Context, Hono } from "hono";
import { sessionsApi } from "./api.js";
import { jsonBody, textField } from "./body.js";
import { Guard } from "./guard.js";
import { HttpError, httpError } from "./http-error.js";
import { Notes } from "./notes.js";
import { openaiApi } from "./openai/api.js";
import { openaiError } from "./openai/error.js";
import { defaultLimits, type ServerOptions } from "./options.js";
import { pageRoutes } from "./page.js";
import { Sessions } from "./sessions.js";

/** Sessions over HTTP. */
export interface AgentServer {
  /** Answers a request. Never rejects. */
  fetch(request: Request): Promise<Response>;
  /** Takes no more requests, ends the streams of events, then every open session: running turns are broken off. */
  close(): Promise<void>;
}

/** What every answer tells a browser: nothing from elsewhere, nothing kept, nothing guessed. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/**
 * Makes a server of sessions: JSON and server-sent events under `/api`, the OpenAI-compatible endpoint under `/v1`, the
 * page at `/`. It listens to nothing by itself: see `listen` of `@shedkit/server/node`. Throws AgenticError `session`
 * where there is no model or no token.
 */
export function createServer(options: ServerOptions): AgentServer {
  if (options.models.length === 0) throw wrongOptions("models is empty; name at least one");
  if (options.token.length < 16) throw wrongOptions("token is shorter than 16 characters; newToken() makes one");
  const limits = { ...defaultLimits, ...options.limits };
  const { models } = options;
  const sessions = new Sessions(options, new Notes(options.notes ?? new MemoryStorage()), limits);
  const guard = new Guard(options.token, options.hosts ?? []);
  const closing = new AbortController();
  const streams = new Set<Promise<void>>();
  const reading = (done: Promise<void>) => {
    streams.add(done);
    void done.finally(() => streams.delete(done));
  };

  const app = new Hono();
  app.use(async (c, next) => {
    guard.checkOrigin(c.req.raw);
    if (closing.signal.aborted) throw new HttpError(503, "shuttingDown", "The server is shutting down.");
    await next();
  });
  app.route("/", pageRoutes(guard, options.page));
  app.post("/api/login", async (c) => {
    const token = textField(await jsonBody(c.req.raw, 4096), "token");
    if (!(await guard.isToken(token.trim()))) throw new HttpError(401, "unauthorized", "The token is not right.");
    c.header("set-cookie", await guard.cookieFor(c.req.raw));
    return c.json({});
  });
  for (const path of ["/api/*", "/v1/*"]) {
    app.use(path, async (c, next) => {
      await guard.checkToken(c.req.raw);
      await next();
    });
  }
  const readers = () => streams.size;
  app.route("/api", sessionsApi({ sessions, models, limits, closing: closing.signal, reading, readers }));
  app.route("/v1", openaiApi({ sessions, models, limits, closing: closing.signal, open: options.open }));
  app.notFound((c) => {
    const allowed = METHODS.filter((method) => hasRoute(app, method, c.req.path));
    if (allowed.length > 0) {
      c.header("allow", allowed.join(", "));
      const message = `${c.req.path} answers ${allowed.join(", ")}, not ${c.req.method}.`;
      return answerOfError(new HttpError(405, "methodNotAllowed", message), c);
    }
    throw new HttpError(404, "notFound", `There is nothing at ${c.req.method} ${c.req.path}.`);
  });
  app.onError((error, c) => answerOfError(error, c));

  let ended: Promise<void> | undefined;
  return {
    fetch: async (request) => {
      const response = await app.fetch(request);
      for (const [name, value] of Object.entries(HEADERS)) {
        if (!response.headers.has(name)) response.headers.set(name, value);
      }
      return response;
    },
    close: () => {
      closing.abort();
      ended ??= Promise.allSettled(streams).then(() => sessions.end());
      return ended;
    },
  };
}

const METHODS = ["GET", "POST", "PATCH", "DELETE"];

function hasRoute(app: Hono, method: string, path: string): boolean {
  const [handlers] = app.router.match(method, path);
  return handlers.some(([[, route]]) => route.method === method);
}

function answerOfError(error: unknown, c: Context): Response {
  const found = httpError(error);
  const { status, code, message } = found;
  if (status === 401) c.header("www-authenticate", "Bearer");
  const body = c.req.path.startsWith("/v1/") ? openaiError(error) : { error: { code, message } };
  return c.json(body, status as 400);
}

function wrongOptions(problem: string): AgenticError {
  return new AgenticError("session", `createServer: ${problem}.`, { reason: "options" });
}
