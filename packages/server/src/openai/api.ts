import { type Context, Hono } from "hono";
import { jsonBody } from "../body.js";
import type { ServedModel, ServerLimits, ServerOptions } from "../options.js";
import type { Sessions } from "../sessions.js";
import { chatCompletion } from "./chat.js";
import { ParamError } from "./error.js";
import { ParkedAnswers } from "./parked.js";
import { createResponse, storedResponse } from "./responses.js";

/** What the routes work with. */
export interface OpenaiParts {
  sessions: Sessions;
  models: readonly ServedModel[];
  open: ServerOptions["open"];
  limits: ServerLimits;
  /** Aborts when the server shuts down. */
  closing: AbortSignal;
}

/** And the answers that wait for their clients. */
export type OpenaiContext = OpenaiParts & { parked: ParkedAnswers };

/** The OpenAI-compatible endpoint. */
export function openaiApi(given: OpenaiParts): Hono {
  const api = new Hono();
  const { models, limits, closing } = given;
  const parts: OpenaiContext = { ...given, parked: new ParkedAnswers(closing) };
  const model = (id: string) => ({ id, object: "model", created: 0, owned_by: "shedkit" });
  const signal = (c: Context) => AbortSignal.any([closing, c.req.raw.signal]);

  api.get("/models", (c) => c.json({ object: "list", data: models.map(({ id }) => model(id)) }));
  api.get("/models/:id{.+}", (c) => {
    const id = c.req.param("id");
    if (models.some((known) => known.id === id)) return c.json(model(id));
    throw new ParamError("model", `There is no model "${id}" here.`, { status: 404, code: "model_not_found" });
  });
  api.post("/chat/completions", async (c) =>
    chatCompletion(await jsonBody(c.req.raw, limits.bodyBytes), signal(c), parts),
  );
  api.post("/responses", async (c) => createResponse(await jsonBody(c.req.raw, limits.bodyBytes), signal(c), parts));
  api.get("/responses/:id", (c) => storedResponse(c.req.param("id"), parts));
  return api;
}
