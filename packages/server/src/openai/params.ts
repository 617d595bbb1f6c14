import type { TurnOptions } from "@shedkit/agent";
import type { JsonSchema } from "@shedkit/types";
import { isObject, type JsonObject } from "../body.js";
import type { ServedModel } from "../options.js";
import { ParamError } from "./error.js";

/** The model of a request. Throws ParamError 404 where it is not served. */
export function modelParam(body: JsonObject, models: readonly ServedModel[]): string {
  const { model } = body;
  if (typeof model === "string" && models.some(({ id }) => id === model)) return model;
  const ids = models.map(({ id }) => id).join(", ");
  const message = `The model ${JSON.stringify(model ?? null)} does not exist here; there are: ${ids}.`;
  throw new ParamError("model", message, { status: 404, code: "model_not_found" });
}

/** What the model calls of a turn are sent with. Throws ParamError. */
export function modelParams(body: JsonObject, names: { maxTokens: readonly string[] }): TurnOptions["params"] {
  const maxTokens = names.maxTokens.map((name) => numberParam(body, name, 1)).find((value) => value !== undefined);
  const temperature = numberParam(body, "temperature", 0);
  const topP = numberParam(body, "top_p", 0);
  const seed = numberParam(body, "seed");
  const stop = stopParam(body);
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(seed !== undefined && { seed }),
    ...(stop !== undefined && { stop }),
  };
}

/** Refuses what would be ignored otherwise and changes what the client gets. Throws ParamError. */
export function refuseParams(body: JsonObject): void {
  const { n, functions, function_call: call } = body;
  if (typeof n === "number" && n !== 1) throw new ParamError("n", "There is one answer to a question: leave n out.");
  for (const [name, value] of Object.entries({ functions, function_call: call })) {
    if (value === undefined || value === null) continue;
    throw new ParamError(name, `"${name}" is out of use: give the functions as "tools".`);
  }
}

/**
 * The JSON Schema that the answer must fit, by `response_format` of chats or `text.format` of responses; undefined where it
 * is text. Throws ParamError.
 */
export function outputParam(body: JsonObject): JsonSchema | undefined {
  const { response_format: ofChat, text } = body;
  const [param, given] = ofChat
    ? ["response_format", ofChat]
    : ["text.format", isObject(text) ? text.format : undefined];
  if (given === undefined || given === null) return undefined;
  const format = isObject(given) ? given : {};
  switch (format.type) {
    case "text":
      return undefined;
    case "json_object":
      return { type: "object" };
    case "json_schema": {
      const { schema } = isObject(format.json_schema) ? format.json_schema : format;
      if (isObject(schema)) return schema;
      throw new ParamError(`${param}.schema`, "The schema must be a JSON Schema.");
    }
    default:
      throw new ParamError(param, `"${param}.type" must be "text", "json_object" or "json_schema".`);
  }
}

export function booleanParam(body: JsonObject, name: string, fallback: boolean): boolean {
  const value = body[name];
  if (value === undefined || value === null) return fallback;
  if (typeof value !== "boolean") throw new ParamError(name, `"${name}" must be true or false.`);
  return value;
}

function numberParam(body: JsonObject, name: string, least = Number.NEGATIVE_INFINITY): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value >= least) return value;
  throw new ParamError(name, `"${name}" must be a number${Number.isFinite(least) ? ` from ${least} on` : ""}.`);
}

function stopParam(body: JsonObject): string[] | undefined {
  const { stop } = body;
  if (stop === undefined || stop === null) return undefined;
  const list = Array.isArray(stop) ? stop : [stop];
  const texts = list.filter((text): text is string => typeof text === "string");
  if (texts.length === list.length) return texts;
  throw new ParamError("stop", '"stop" must be a text or a list of texts.');
}
