const LOOKED = 2048; // bytes

/**
 * The text of a body: in the encoding that its mark names, or its header, or the page itself; else in UTF-8, or in what the web
 * was written in before that.
 */
export function decoded(body: Uint8Array, type: string, mime: string): string {
  const header = /charset\s*=\s*["']?([\w-]+)/i.exec(type)?.[1];
  // A server that says so of every page: read so, one of another encoding would be a text, and a wrong one.
  const isWrong = header !== undefined && /^utf-?16/i.test(header) && strictly(body)?.includes("\0") === false;
  for (const name of [markOf(body), isWrong ? undefined : header, namedIn(body, mime)]) {
    const decoder = name === undefined ? undefined : decoderOf(name);
    if (decoder) return decoder.decode(body);
  }
  return strictly(body) ?? (decoderOf("windows-1252") ?? new TextDecoder()).decode(body);
}

/** UTF-8; undefined for what is none. What was cut may end in the midst of a character. */
export function strictly(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}

function decoderOf(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name);
  } catch {
    return undefined; // an encoding that nobody here knows
  }
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** What a page of HTML or XML says of itself. That could be read as ASCII, so it is no UTF-16. */
function namedIn(body: Uint8Array, mime: string): string | undefined {
  const start = String.fromCharCode(...body.subarray(0, LOOKED));
  const xml = /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w-]+)/.exec(start)?.[1];
  const html = /html/.test(mime) ? /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1] : undefined;
  const name = /[/+]xml$/.test(mime) ? (xml ?? html) : html;
  return name !== undefined && /^utf-?16/i.test(name) ? "utf-8" : name;
}
