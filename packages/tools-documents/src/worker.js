// Parses what others wrote, in a thread that can be ended: plain JavaScript, so that it runs from the sources too.
// A request is `{ kind, ... }`; its answer is `{ value }` or `{ fault: { name, message } }`.
import { parentPort } from "node:worker_threads";

/** The PDF that was opened. @type {import("unpdf").PDFDocumentProxy | undefined} */
let pdf;

const kinds = {
  /** Opens a PDF. Gives how many pages it has. */
  async open({ bytes }) {
    const { getDocumentProxy } = await import("unpdf");
    pdf = await getDocumentProxy(bytes, { verbosity: 0, isEvalSupported: false, stopAtErrors: false });
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

  /** An image in another size: PNG or JPEG, the first that fits into so many bytes. */
  async image({ bytes, width, height, photo, maxBytes, minSide }) {
    const { PhotonImage, resize, SamplingFilter } = (await import("@silvia-odwyer/photon-node")).default;
    const original = PhotonImage.new_from_byteslice(bytes);
    for (let scale = 1; ; scale *= 0.75) {
      const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
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
  },
};

parentPort.on("message", async (request) => {
  try {
    parentPort.postMessage({ value: await kinds[request.kind](request) });
  } catch (fault) {
    parentPort.postMessage({ fault: { name: String(fault?.name), message: String(fault?.message) } });
  }
});
