import type { JsonValue } from "@shedkit/types";
import { badRequest, HttpError } from "./http-error.js";

/** A JSON object that came in. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** The body of a request, which must be a JSON object. An empty one is `{}`. Throws HttpError 400, 413 or 415. */
export async function jsonBody(request: Request, maxBytes: number): Promise<JsonObject> {
  const text = await textBody(request, maxBytes);
  if (text.trim() === "") return {};
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new HttpError(415, "unsupportedMediaType", "The body must be JSON: send Content-Type: application/json.");
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw badRequest(`The body is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw badRequest("The body must be a JSON object.");
  return value;
}

async function textBody(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () => new HttpError(413, "tooLarge", `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const pieces: string[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.body) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      pieces.push(decoder.decode(chunk, { stream: true }));
    }
    pieces.push(decoder.decode());
  } catch (error) {
    if (error instanceof TypeError) throw badRequest("The body is not UTF-8 text, or it broke off.");
    throw error;
  }
  return pieces.join("");
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text of a body, trimmed of nothing. Throws HttpError 400 where it is not there or has nothing in it. */
export function textField(body: JsonObject, name: string): string {
  const value = optionalText(body, name);
  if (value === undefined || value.trim() === "") throw badRequest(`"${name}" must be a text with something in it.`);
  return value;
}

/** Throws HttpError 400 where it is there and no text. */
export function optionalText(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw badRequest(`"${name}" must be a text; it is ${JSON.stringify(value)}.`);
  return value;
}

/** A whole number of a query, from 1 to `max`. Throws HttpError 400. */
export function countParam(text: string | undefined, name: string, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return Math.min(value, max);
  throw badRequest(`"${name}" must be a whole number from 1 on; it is "${text}".`);
}
