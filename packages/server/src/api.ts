import type { ApprovalDecision, ContentPart, JsonValue, SessionId, UserMessage } from "@shedkit/types";
import { newId, toolName } from "@shedkit/types";
import { type Context, Hono } from "hono";
import { countParam, isObject, type JsonObject, jsonBody, optionalText, textField } from "./body.js";
import { eventStream, placeBehind } from "./event-stream.js";
import { badRequest, HttpError } from "./http-error.js";
import { readAll } from "./log-reader.js";
import type { ServedModel, ServerLimits } from "./options.js";
import type { Sessions } from "./sessions.js";
import { turnCosts } from "./turn-costs.js";

/** What the routes work with. */
export interface ApiParts {
  sessions: Sessions;
  models: readonly ServedModel[];
  limits: ServerLimits;
  /** Aborts when the server shuts down. */
  closing: AbortSignal;
  /** Calls back when a stream of events has ended. */
  reading(done: Promise<void>): void;
  readers(): number;
}

const idOf = (c: Context): SessionId => c.req.param("id") as SessionId;

/** Sessions as JSON and server-sent events. */
export function sessionsApi({ sessions, models, limits, closing, reading, readers }: ApiParts): Hono {
  const api = new Hono();
  const body = (c: Context): Promise<JsonObject> => jsonBody(c.req.raw, limits.bodyBytes);

  api.get("/models", (c) => c.json({ models: models.map(({ id, name }) => ({ id, name: name ?? id })) }));

  api.get("/sessions", async (c) => {
    const { text, cursor, limit } = c.req.query();
    const query = { limit: countParam(limit, "limit", 50, 200), text: text || undefined, cursor };
    return c.json(await sessions.list(query));
  });

  api.post("/sessions", async (c) => {
    const id = sessions.create(optionalText(await body(c), "model"));
    return c.json(await sessions.info(id), 201);
  });

  api.get("/sessions/:id", async (c) => c.json(await sessions.info(idOf(c))));

  api.patch("/sessions/:id", async (c) => {
    const id = idOf(c);
    await sessions.check(id);
    const change = await body(c);
    const title = optionalText(change, "title");
    const model = optionalText(change, "model");
    if (title === undefined && model === undefined) throw badRequest('Give a "title", a "model", or both.');
    if (title !== undefined && title.length > 200) throw badRequest('"title" is longer than 200 characters.');
    if (model !== undefined) await sessions.setModel(id, model);
    if (title !== undefined) await sessions.notes.setTitle(id, title.trim());
    return c.json(await sessions.info(id));
  });

  api.delete("/sessions/:id", async (c) => {
    await sessions.remove(idOf(c));
    return c.body(null, 204);
  });

  api.post("/sessions/:id/fork", async (c) => {
    const copy = await sessions.fork(idOf(c), optionalText(await body(c), "at"));
    return c.json(await sessions.info(copy), 201);
  });

  api.get("/sessions/:id/export", async (c) => {
    const format = c.req.query("format") ?? "markdown";
    if (format !== "markdown" && format !== "jsonl") throw badRequest('"format" must be "markdown" or "jsonl".');
    const id = idOf(c);
    return sessions.use(id, async ({ session }) => {
      // Made whole before it is sent: the session may be closed while a slow reader takes it.
      const parts: string[] = [];
      for await (const part of session.export({ format })) parts.push(part);
      const [type, ending] = format === "jsonl" ? ["application/jsonl", "jsonl"] : ["text/markdown", "md"];
      return c.body(parts.join(""), 200, {
        "content-type": `${type}; charset=utf-8`,
        "content-disposition": `attachment; filename="session-${id.replace(/[^\w.-]/g, "_")}.${ending}"`,
      });
    });
  });

  api.get("/sessions/:id/records", async (c) => {
    const { before, last } = c.req.query();
    const range = {
      ...(before !== undefined && { before: countParam(before, "before", 1, Number.MAX_SAFE_INTEGER) }),
      last: countParam(last, "last", 200, 1000),
    };
    await sessions.check(idOf(c));
    return c.json({ records: await readAll(sessions.docStore.read(idOf(c), range)) });
  });

  api.get("/sessions/:id/usage", async (c) => {
    await sessions.check(idOf(c));
    return c.json(await turnCosts(sessions.docStore, idOf(c)));
  });

  api.get("/sessions/:id/tools", (c) =>
    sessions.use(idOf(c), async ({ session: { toolManager } }) => {
      const { query, limit } = c.req.query();
      if (query !== undefined) {
        const hits = await toolManager.searchTools(query, countParam(limit, "limit", 10, 50));
        return c.json({
          hits: hits.map(({ name, category, description, score }) => ({ name, category, description, score })),
        });
      }
      const tools = toolManager.allDeclarations().tools.map((tool) => {
        const name = toolName(tool);
        const [category, description] =
          tool.type === "single"
            ? [tool.definition.category, tool.definition.description]
            : [tool.commands[0]?.category ?? "", tool.description ?? ""];
        return { name, category, description, active: toolManager.isActive(name) };
      });
      return c.json({ tools });
    }),
  );

  api.get("/sessions/:id/events", async (c) => {
    const id = idOf(c);
    await sessions.check(id);
    if (readers() >= limits.readers) {
      throw new HttpError(503, "tooManyReaders", `${limits.readers} readers of events are connected already.`);
    }
    const after = c.req.header("last-event-id") ?? c.req.query("after") ?? "";
    const place = await placeBehind(sessions, id, after);
    if (place === undefined) throw new HttpError(404, "unknownEvent", `The session has no event "${after}".`);
    const stop = AbortSignal.any([closing, c.req.raw.signal]);
    const { body, done } = eventStream(sessions, id, place, limits, stop);
    reading(done);
    return new Response(body, {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    });
  });

  api.post("/sessions/:id/ask", async (c) => {
    const asked = await body(c);
    const message = messageOf(asked);
    const maxSteps = stepsOf(asked.maxSteps);
    const turnId = await sessions.use(idOf(c), (live) => live.ask(message, maxSteps));
    return c.json({ turnId }, 202);
  });

  api.post("/sessions/:id/steer", async (c) => {
    const message = messageOf(await body(c));
    await sessions.use(idOf(c), ({ session }) => session.steer(message));
    return c.json({}, 202);
  });

  api.post("/sessions/:id/follow-up", async (c) => {
    const message = messageOf(await body(c));
    await sessions.use(idOf(c), ({ session }) => session.followUp(message));
    return c.json({}, 202);
  });

  api.post("/sessions/:id/abort", async (c) => {
    await sessions.check(idOf(c));
    sessions.live(idOf(c))?.session.abort("stopped by the user");
    return c.json({}, 202);
  });

  api.post("/sessions/:id/compact", (c) =>
    sessions.use(idOf(c), async ({ session }) => {
      const { tokensBefore, tokensAfter } = await session.compact();
      return c.json({ tokensBefore, tokensAfter });
    }),
  );

  api.post("/sessions/:id/approvals/:approval", async (c) => {
    const decision = decisionOf(await body(c));
    const { approval } = c.req.param();
    await sessions.use(idOf(c), async ({ session }) => {
      if (!session.pendingApprovals().includes(approval)) {
        throw new HttpError(409, "notWaiting", "This call does not wait for leave any more.");
      }
      await session.approve(approval, decision);
    });
    return c.json({});
  });

  return api;
}

function stepsOf(value: JsonValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
  throw badRequest('"maxSteps" must be a whole number from 1 on.');
}

function decisionOf(body: JsonObject): ApprovalDecision {
  const reason = optionalText(body, "reason");
  switch (body.decision) {
    case "once":
      return { type: "allow", scope: "once", ...(body.answer !== undefined && { answer: body.answer }) };
    case "always":
      return { type: "allow", scope: "session" };
    case "deny":
      return { type: "deny", ...(reason?.trim() && { reason: `the user said: ${reason.trim()}` }) };
    default:
      throw badRequest('"decision" must be "once", "always" or "deny".');
  }
}

/** What a person says: a text, and files beside it. */
function messageOf(body: JsonObject): UserMessage {
  const text = textField(body, "text");
  const { files = [] } = body;
  if (!Array.isArray(files)) throw badRequest('"files" must be a list.');
  return {
    type: "user",
    id: newId(),
    role: "user",
    content: [...files.map((file, i) => filePart(file, i)), { type: "text", text }],
  };
}

function filePart(file: JsonValue, i: number): ContentPart {
  const { name, mediaType, data } = isObject(file) ? file : {};
  if (typeof name !== "string" || typeof mediaType !== "string" || typeof data !== "string" || !isBase64(data)) {
    throw badRequest(`"files[${i}]" must have the texts "name", "mediaType" and "data", the last in base64.`);
  }
  const kind = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
  return { type: kind ?? "file", source: { type: "base64", data }, mediaType, name };
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}
