/** An image, as its first bytes tell. */
export interface ImageInfo {
  mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  width: number;
  height: number;
  /** Whether its last bytes are there. */
  whole: boolean;
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** What kind of image bytes are; undefined for none that models read. */
export function imageInfo(bytes: Uint8Array): ImageInfo | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ascii = (start: number, end: number) => String.fromCharCode(...bytes.subarray(start, end));
  if (PNG.every((byte, i) => bytes[i] === byte) && bytes.length >= 33) {
    const whole = ascii(bytes.length - 8, bytes.length - 4) === "IEND";
    return { mediaType: "image/png", width: view.getUint32(16), height: view.getUint32(20), whole };
  }
  if (/^GIF8[79]a$/.test(ascii(0, 6)) && bytes.length >= 13) {
    const whole = bytes.at(-1) === 0x3b;
    return { mediaType: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true), whole };
  }
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP" && bytes.length >= 30) {
    const whole = bytes.length >= view.getUint32(4, true) + 8;
    return { mediaType: "image/webp", ...webpSize(view, ascii(12, 16)), whole };
  }
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) {
    return { mediaType: "image/jpeg", ...jpegSize(view), whole: jpegEnds(bytes) };
  }
  return undefined;
}

/** Of the three forms of WebP (developers.google.com/speed/webp/docs/riff_container). */
function webpSize(view: DataView, form: string): { width: number; height: number } {
  if (form === "VP8X") return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) };
  if (form === "VP8L") {
    const bits = view.getUint32(21, true);
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
  }
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

/** From the frame header, whichever way the image is coded; 0 where there is none. */
function jpegSize(view: DataView): { width: number; height: number } {
  for (let at = 2; at + 9 < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) break;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    const frame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (frame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += 2 + view.getUint16(at + 2);
  }
  return { width: 0, height: 0 };
}

/** Some cameras write zeros after the end of the image. */
function jpegEnds(bytes: Uint8Array): boolean {
  let last = bytes.length - 1;
  while (bytes[last] === 0) last--;
  return bytes[last] === 0xd9 && bytes[last - 1] === 0xff;
}

const STEP = 8190; // bytes turned at once, a multiple of three

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += STEP) text += btoa(String.fromCharCode(...bytes.subarray(i, i + STEP)));
  return text;
}
