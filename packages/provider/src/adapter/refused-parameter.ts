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
