interface Size {
  width: number;
  height: number;
  /** The picture itself, where it is a PNG inside. */
  png?: Uint8Array;
}

/**
 * How large an image of a kind is that models do not read, by its headers: what a decoder unpacks at most. Undefined where they do
 * not tell.
 */
export function sizeOf(bytes: Uint8Array, mediaType: string): Size | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (mediaType === "image/bmp") return dibSize(view, 14);
    return mediaType === "image/tiff" ? tiffSize(view) : iconSize(view, bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // something is said to lie behind the end
    throw error;
  }
}

/** From the header that BMPs and the pictures of icons have. */
function dibSize(view: DataView, at: number): Size {
  if (view.getUint32(at, true) === 12) {
    return { width: view.getUint16(at + 4, true), height: view.getUint16(at + 6, true) };
  }
  // A height below zero tells that the first row is the topmost.
  return { width: Math.abs(view.getInt32(at + 4, true)), height: Math.abs(view.getInt32(at + 8, true)) };
}

const PNG = 0x89504e47;

/** The largest picture of an icon, as the pictures themselves say: the list of them may say something else. */
function iconSize(view: DataView, bytes: Uint8Array): Size {
  let largest: Size = { width: 0, height: 0 };
  for (let i = 0; i < view.getUint16(4, true); i++) {
    const at = view.getUint32(6 + 16 * i + 12, true);
    const isPng = view.getUint32(at) === PNG;
    // Below the rows of other pictures there are as many that tell what shines through.
    const dib = isPng ? undefined : dibSize(view, at);
    const size = dib
      ? { width: dib.width, height: dib.height / 2 }
      : { width: view.getUint32(at + 16), height: view.getUint32(at + 20), png: bytes.subarray(at) };
    if (size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}

const WIDTH = 256;
const HEIGHT = 257;
const SHORT = 3;

/** Of the first picture. */
function tiffSize(view: DataView): Size {
  const little = view.getUint8(0) === 0x49;
  const at = view.getUint32(4, little);
  const size: Size = { width: 0, height: 0 };
  for (let i = 0; i < view.getUint16(at, little); i++) {
    const entry = at + 2 + 12 * i;
    const tag = view.getUint16(entry, little);
    if (tag !== WIDTH && tag !== HEIGHT) continue;
    const short = view.getUint16(entry + 2, little) === SHORT;
    const value = short ? view.getUint16(entry + 8, little) : view.getUint32(entry + 8, little);
    if (tag === WIDTH) size.width = value;
    else size.height = value;
  }
  return size;
}
