import { ToolError } from "@shedkit/tool";

export interface BodyOptions {
  /** Gives what fits, where there is more. Default: false, and more is an error. */
  cut?: boolean | undefined;
  /** Aborted: its reason is what the reading rejects with. */
  signal?: AbortSignal | undefined;
  onProgress?: ((bytes: number) => void) | undefined;
}

/**
 * The bytes of an answer. Rejects with ToolError `execution` where they are too many, `network` where they break off.
 */
export async function bytesOf(
  response: Response,
  maxBytes: number,
  host: string,
  { cut = false, signal, onProgress }: BodyOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  const packed = response.headers.has("content-encoding");
  if (!cut && !packed && declared > maxBytes) {
    await response.body?.cancel();
    throw tooLarge(host, maxBytes, declared);
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece.subarray(0, maxBytes - length));
      length += piece.length;
      if (length > maxBytes) break; // which cancels the rest
      onProgress?.(length);
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw brokenOff(host, length, cause);
  }
  if (length > maxBytes && !cut) throw tooLarge(host, maxBytes);
  if (!packed && declared > length) throw brokenOff(host, length);
  return joined(pieces, Math.min(length, maxBytes));
}

export async function textOf(response: Response, maxBytes: number, host: string, signal: AbortSignal): Promise<string> {
  return new TextDecoder().decode(await bytesOf(response, maxBytes, host, { signal }));
}

export function brokenOff(host: string, bytes: number, cause?: unknown): ToolError {
  const text = `The answer of ${host} broke off after ${bytes} bytes. Try once more.`;
  return new ToolError("network", "media", text, { cause });
}

function tooLarge(host: string, maxBytes: number, bytes?: number): ToolError {
  const has = bytes === undefined ? "is longer than that" : `has ${bytes}`;
  return new ToolError(
    "execution",
    "media",
    `${host} answered with too much: ${maxBytes} bytes are the most, and it ${has}.`,
  );
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
