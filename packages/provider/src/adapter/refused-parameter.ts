const WORDS =
  /unsupported|not support|unrecognized|unknown|deprecated|not permitted|not allowed|cannot both|extra (inputs|fields)|unexpected|invalid (parameter|argument)/i;

/**
 * Which parameter of a body a server says, with 400 or 422, that it does not take; undefined where it says nothing of
 * the kind. `spared` are those that a request cannot do without.
 */
export function refusedParameter(error: unknown, body: object, spared: ReadonlySet<string>): string | undefined {
  const message = refusalText(error);
  if (message === undefined || !WORDS.test(message)) return undefined;
  const { param } = error as { param?: unknown };
  const named = typeof param === "string" ? (param.split(/[.[]/, 1)[0] ?? "") : "";
  if (named in body && !spared.has(named)) return named;
  return Object.keys(body).find((key) => !spared.has(key) && new RegExp(`\\b${key}\\b`).test(message));
}

/** What a server says with 400 or 422; undefined for any other error. */
export function refusalText(error: unknown): string | undefined {
  const { status, message } = error as { status?: unknown; message?: unknown };
  return (status === 400 || status === 422) && typeof message === "string" ? message : undefined;
}

/**
 * Whether a server says, with 400 or 422, that it does not take strict tools, or not one of their schemas, where `body`
 * has such: it may take the same schema without.
 */
export function refusesStrict(error: unknown, body: object): boolean {
  const text = refusalText(error);
  if (text === undefined || !/\bstrict\b|invalid schema for function|invalid_function_parameters/i.test(text))
    return false;
  return JSON.stringify(body).includes('"strict":true');
}

const MEDIA = /\b(image|vision|multi-?modal|audio|file|document|image_url|input_(image|audio|file))s?\b/i;
const NOT_TAKEN =
  /not support|unsupported|unknown variant|does(n't| not) (accept|take)|no endpoints|only( supports?)? text|text[- ]only|not a (multimodal|vision)|expected `?text|should be '?"?text|not enabled/i;
const HAS_MEDIA = /"type":"(image|image_url|input_image|input_audio|input_file|file|document)"/;

/**
 * Whether a server says, with 400, 404 or 422, that its model takes text alone, where `conversation` has more in it:
 * every later request would be refused too.
 */
export function refusesMedia(error: unknown, conversation: unknown): boolean {
  const { status, message } = error as { status?: unknown; message?: unknown };
  if (typeof message !== "string" || !(status === 400 || status === 404 || status === 422)) return false;
  return MEDIA.test(message) && NOT_TAKEN.test(message) && HAS_MEDIA.test(JSON.stringify(conversation));
}
