/** An image, as its first bytes tell. */
export interface ImageInfo {
  mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/bmp" | "image/tiff" | "image/x-icon";
  /** Of a kind that models read. */
  native: boolean;
  /** 0 x 0 where it does not stand at the start, or is not looked for. */
  width: number;
  height: number;
  /** Whether its last bytes are there. */
  whole: boolean;
}

/** Sizes of the header of a BMP that follows that of the file. */
const BMP_HEADERS = new Set([12, 40, 52, 56, 64, 108, 124]);

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** What kind of image bytes are; undefined for none that is known. */
export function imageInfo(bytes: Uint8Array): ImageInfo | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ascii = (start: number, end: number) => String.fromCharCode(...bytes.subarray(start, end));
  if (PNG.every((byte, i) => bytes[i] === byte) && bytes.length >= 33) {
    const whole = ascii(bytes.length - 8, bytes.length - 4) === "IEND";
    return { mediaType: "image/png", native: true, width: view.getUint32(16), height: view.getUint32(20), whole };
  }
  if (/^GIF8[79]a$/.test(ascii(0, 6)) && bytes.length >= 13) {
    const whole = bytes.at(-1) === 0x3b;
    return {
      mediaType: "image/gif",
      native: true,
      width: view.getUint16(6, true),
      height: view.getUint16(8, true),
      whole,
    };
  }
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP" && bytes.length >= 30) {
    const whole = bytes.length >= view.getUint32(4, true) + 8;
    return { mediaType: "image/webp", native: true, ...webpSize(view, ascii(12, 16)), whole };
  }
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) {
    return { mediaType: "image/jpeg", native: true, ...jpegSize(view), whole: jpegEnds(bytes) };
  }
  const other = otherKind(bytes, view);
  return other && { mediaType: other, native: false, width: 0, height: 0, whole: true };
}

/** Kinds that models do not read. */
function otherKind(bytes: Uint8Array, view: DataView): "image/bmp" | "image/tiff" | "image/x-icon" | undefined {
  if (bytes.length < 30) return undefined;
  if (bytes[0] === 0x42 && bytes[1] === 0x4d && view.getUint32(6) === 0 && BMP_HEADERS.has(view.getUint32(14, true))) {
    return "image/bmp";
  }
  const start = view.getUint32(0);
  if (start === 0x49492a00 || start === 0x4d4d002a) return "image/tiff";
  const icons = view.getUint16(4, true);
  const first = view.getUint32(18, true);
  return start === 0x00000100 && icons > 0 && bytes[9] === 0 && first >= 6 + 16 * icons ? "image/x-icon" : undefined;
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

/** What an image may have to be given to a model as it is: what models take without scaling it down, and a prompt can bear. */
export const MAX_IMAGE = { bytes: 576 * 1024, side: 2000, pixels: 1_048_576 } as const;

/** Whether an image of so many bytes can be given to a model as it is, if it is whole. */
export function fitsModel({ native, width, height }: ImageInfo, size: number): boolean {
  return (
    native && size <= MAX_IMAGE.bytes && Math.max(width, height) <= MAX_IMAGE.side && width * height <= MAX_IMAGE.pixels
  );
}

const STEP = 8190; // bytes turned at once, a multiple of three

/** Bytes as base64, as content parts hold them. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += STEP) text += btoa(String.fromCharCode(...bytes.subarray(i, i + STEP)));
  return text;
}
