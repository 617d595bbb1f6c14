// Parses what others wrote, in a thread that can be ended: plain JavaScript, so that it runs from the sources too.
// A request is `{ kind, ... }`; its answer is `{ value }` or `{ fault: { name, message } }`.
import { parentPort } from "node:worker_threads";

/** The PDF that was opened. @type {import("unpdf").PDFDocumentProxy | undefined} */
let pdf;

const kinds = {
  /** Opens a PDF. Gives how many pages it has. What is unpacked of it may have so many bytes, each part for itself. */
  async open({ bytes, maxPixels, maxUnpacked = MAX_UNPACKED }) {
    limitBuffers(maxUnpacked);
    const { getDocumentProxy } = await import("unpdf");
    const images = { maxImageSize: maxPixels, isOffscreenCanvasSupported: false, isImageDecoderSupported: false };
    pdf = await getDocumentProxy(bytes, { verbosity: 0, isEvalSupported: false, stopAtErrors: false, ...images });
    return pdf.numPages;
  },

  /** The text of a page, from 1, cut where it has more than so many characters. */
  async page({ number, maxChars }) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    let text = "";
    for (const { str = "", hasEOL = false } of items) {
      text += hasEOL ? `${str}\n` : str;
      if (text.length > maxChars) break;
    }
    page.cleanup();
    return text;
  },

  /** The largest picture on a page, from 1, as an image like those of `image`; undefined where there is none worth a look. */
  async picture({ number, target }) {
    const { getResolvedPDFJS } = await import("unpdf");
    const { OPS } = await getResolvedPDFJS();
    const page = await pdf.getPage(number);
    const { fnArray, argsArray } = await page.getOperatorList();
    let largest;
    for (const [i, operation] of fnArray.entries()) {
      if (operation !== OPS.paintImageXObject) continue;
      const key = argsArray[i][0];
      const objects = key.startsWith("g_") ? page.commonObjs : page.objs;
      const image = await new Promise((resolve) => objects.get(key, resolve));
      if (!image?.data || Math.min(image.width, image.height) < LEAST_SIDE) continue;
      if (!largest || image.width * image.height > largest.width * largest.height) largest = image;
    }
    const pixels = largest && rgba(largest);
    page.cleanup();
    if (!pixels) return undefined;
    const { PhotonImage } = await photon();
    return smaller(new PhotonImage(pixels, largest.width, largest.height), false, target);
  },

  /** An image that is not above the target: PNG or JPEG, the first that fits into so many bytes. */
  async image({ bytes, photo, target }) {
    const { PhotonImage } = await photon();
    return smaller(PhotonImage.new_from_byteslice(bytes), photo, target);
  },
};

/** Above four bytes for each pixel of the largest picture. */
const MAX_UNPACKED = 256 * 1024 * 1024;

/** The parser unpacks whatever it is given, in buffers that the heap's limit does not count: here they end. */
function limitBuffers(max) {
  const tooLarge = () => new RangeError("it unpacks to too much");
  globalThis.Uint8Array = new Proxy(Uint8Array, {
    construct(target, args, called) {
      if (typeof args[0] === "number" && args[0] > max) throw tooLarge();
      return Reflect.construct(target, args, called);
    },
  });
  const Unlimited = globalThis.DecompressionStream;
  globalThis.DecompressionStream = class {
    constructor(format) {
      const { readable, writable } = new Unlimited(format);
      let size = 0;
      const limit = new TransformStream({
        transform(chunk, controller) {
          size += chunk.byteLength;
          if (size > max) controller.error(tooLarge());
          else controller.enqueue(chunk);
        },
      });
      this.writable = writable;
      this.readable = readable.pipeThrough(limit);
    }
  };
}

const LEAST_SIDE = 100; // pixels: what is smaller is a logo or a rule

async function photon() {
  return (await import("@silvia-odwyer/photon-node")).default;
}

async function smaller(original, photo, { bytes: maxBytes, side, pixels, minSide }) {
  const { resize, SamplingFilter } = await photon();
  const [width, height] = [original.get_width(), original.get_height()];
  const fitting = Math.min(1, side / Math.max(width, height), Math.sqrt(pixels / (width * height)));
  for (let scale = fitting; ; scale *= 0.75) {
    const [w, h] = [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
    const scaled = resize(original, w, h, SamplingFilter.Lanczos3);
    const forms = [
      ...(photo ? [] : [["image/png", () => scaled.get_bytes()]]),
      ...[85, 70, 50, 40].map((quality) => ["image/jpeg", () => scaled.get_bytes_jpeg(quality)]),
    ];
    for (const [mediaType, encode] of forms) {
      const encoded = encode();
      if (encoded.length <= maxBytes) return { bytes: encoded, mediaType, width: w, height: h };
    }
    scaled.free();
    if (Math.max(w, h) <= minSide) throw new Error("it does not get small enough");
  }
}

/** The pixels of a PDF's picture, four bytes each, whichever of its three kinds it is: bits, or three or four bytes each. */
function rgba({ data, width, height }) {
  const count = width * height;
  if (data.length === count * 4) return Uint8Array.from(data);
  const pixels = new Uint8Array(count * 4).fill(255);
  const row = Math.ceil(width / 8);
  if (data.length === count * 3) {
    for (let i = 0; i < count; i++) pixels.set(data.subarray(i * 3, i * 3 + 3), i * 4);
  } else if (data.length === row * height) {
    for (let i = 0; i < count; i++) {
      const [x, y] = [i % width, Math.floor(i / width)];
      if ((data[y * row + (x >> 3)] & (0x80 >> (x & 7))) === 0) pixels.fill(0, i * 4, i * 4 + 3);
    }
  } else return undefined;
  return pixels;
}

parentPort.on("message", async (request) => {
  try {
    parentPort.postMessage({ value: await kinds[request.kind](request) });
  } catch (fault) {
    // WebAssembly ends so where its code gives up.
    const trapped = fault instanceof WebAssembly.RuntimeError;
    const message = trapped ? "it is packed in a way that is not known, or wrongly" : String(fault?.message);
    parentPort.postMessage({ fault: { name: String(fault?.name), message } });
  }
});
