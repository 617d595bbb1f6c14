const ENDINGS: { readonly [mediaType: string]: readonly [string, ...string[]] } = {
  "image/png": [".png"],
  "image/jpeg": [".jpg", ".jpeg"],
  "image/webp": [".webp"],
  "image/gif": [".gif"],
  "image/avif": [".avif"],
  "image/svg+xml": [".svg"],
  "video/mp4": [".mp4", ".m4v"],
  "video/quicktime": [".mov"],
  "video/webm": [".webm", ".mkv"],
};

/** The images that models read. */
export const SHOWABLE: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/**
 * What image or video bytes are, by themselves: what a service says of them is not believed. Undefined for anything
 * else.
 */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const ascii = (start: number, end: number) => String.fromCharCode(...bytes.subarray(start, end));
  if (ascii(0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (/^GIF8[79]a$/.test(ascii(0, 6))) return "image/gif";
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return "image/webp";
  if (ascii(0, 4) === "\x1a\x45\xdf\xa3") return "video/webm";
  if (ascii(4, 8) === "ftyp") {
    const brand = ascii(8, 12);
    if (brand === "avif" || brand === "avis") return "image/avif";
    return brand === "qt  " ? "video/quicktime" : "video/mp4";
  }
  const start = new TextDecoder().decode(bytes.subarray(0, 1024));
  return /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/.test(start) ? "image/svg+xml" : undefined;
}

/** Whether the end is there, as far as the form tells it: a connection may close early and nobody says so. */
export function isWhole(bytes: Uint8Array, mediaType: string): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (mediaType) {
    case "image/png":
      return lastIndexOf(bytes, "IEND") >= 0;
    case "image/webp":
      return bytes.length >= 8 && bytes.length >= view.getUint32(4, true) + 8;
    case "video/mp4":
    case "video/quicktime":
    case "image/avif":
      return boxesEnd(view);
    default:
      return true;
  }
}

/** The boxes of ISO/IEC 14496-12: a size and a name each, one behind the other. */
function boxesEnd(view: DataView): boolean {
  let at = 0;
  while (at < view.byteLength) {
    if (at + 8 > view.byteLength) return false;
    let size = view.getUint32(at);
    if (size === 0) return true; // up to the end
    if (size === 1) {
      if (at + 16 > view.byteLength) return false;
      size = view.getUint32(at + 8) * 2 ** 32 + view.getUint32(at + 12);
    }
    if (size < 8) return false;
    at += size;
  }
  return at === view.byteLength;
}

/** In the last bytes: some programs write more behind the end. */
function lastIndexOf(bytes: Uint8Array, word: string): number {
  const from = Math.max(0, bytes.length - 4096);
  for (let at = bytes.length - word.length; at >= from; at--) {
    if ([...word].every((letter, i) => bytes[at + i] === letter.charCodeAt(0))) return at;
  }
  return -1;
}

/** What files of a type end in: the usual one first. */
function endingsOf(mediaType: string): readonly [string, ...string[]] {
  return ENDINGS[mediaType] ?? [".bin"];
}

/** A path with another ending where its own is not one of the type's. */
export function withEnding(path: string, mediaType: string): string {
  const endings = endingsOf(mediaType);
  const own = /\.[A-Za-z0-9]{1,5}$/.exec(path)?.[0];
  if (own !== undefined && endings.includes(own.toLowerCase())) return path;
  const known = own !== undefined && Object.values(ENDINGS).some((all) => all.includes(own.toLowerCase()));
  return `${known ? path.slice(0, -own.length) : path}${endings[0]}`;
}

/** Undefined for what is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  } catch {
    return undefined;
  }
}
