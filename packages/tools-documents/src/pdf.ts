import { nameOf, quote } from "@shedkit/fs";
import type { ToolCallResult } from "@shedkit/tool";
import type { FileFormat, FormatFile, FormatRequest } from "@shedkit/tools-files";
import { answering, Failure } from "./failure.js";
import { type Block, imageBlock, MAX_PIXELS, type Small, TARGET } from "./image.js";
import { pagesOf } from "./pages.js";
import { checkSize, PagedText, TIMEOUT_MS, tidy } from "./text.js";
import { type Ask, WorkFault, withThread } from "./work.js";

const MAGIC = "%PDF-";

/** Of each part of a PDF whose pictures nobody looks at. */
const MAX_TEXT_UNPACKED = 64 * 1024 * 1024;

const MOST_PICTURES = 5; // of one call

/** The text of PDFs, by pages; of a page without text its largest picture. */
export function pdfFormat(): FileFormat {
  return {
    paged: true,
    // Readers take what has a few bytes before its header, too.
    matches: ({ path, head }) =>
      nameOf(path).toLowerCase().endsWith(".pdf") || latin1(head.subarray(0, MAGIC.length)) === MAGIC,
    read: (file, request) => answering(() => readPdf(file, request)),
  };
}

async function readPdf(file: FormatFile, request: FormatRequest): Promise<ToolCallResult> {
  checkSize(file);
  const { fs, signal } = request;
  const { path } = file;
  if (!latin1(file.head).includes(MAGIC)) {
    throw new Failure("no PDF", `${quote(path)} is called a PDF, and is none: its header is missing.`);
  }
  const bytes = await fs.readFile(path, { signal });
  return withThread(path, TIMEOUT_MS, signal, async (ask) => {
    const total = await opened(path, bytes, ask);
    const text = new PagedText("Page", total, request.maxBytes);
    const pictures: Block[] = [];
    for (const number of pagesOf(request, total, "page")) {
      const page = await ask<string>({ kind: "page", number, maxChars: text.room }).catch((fault) => {
        if (!(fault instanceof WorkFault)) throw fault;
        return undefined;
      });
      let empty = page === undefined ? "(This page is damaged.)" : "(No text: the page may be a picture.)";
      let picture: Small | undefined;
      if (page?.trim() === "" && request.images) {
        const full = pictures.length === MOST_PICTURES;
        picture = full ? undefined : await pictureOf(number, ask);
        if (picture) empty = `(No text. Picture ${pictures.length + 1} below is on this page.)`;
        else if (full)
          empty = `(No text: the page may be a picture. Ask for ${request.param("pages")} ${number} to see it.)`;
      }
      if (!text.add(number, page ?? "", empty, request.param("pages"))) break;
      if (picture) pictures.push(imageBlock(picture, `${path}, page ${number}`));
    }
    return text.result(path, pictures);
  });
}

/** How a PDF is read that is no file of a file system. */
export interface PdfTextOptions {
  /** What it is called in messages. Default: `the document`. */
  name?: string | undefined;
  /** How much text is taken, in characters; the rest is left out with a note. Default: 2,000,000. */
  maxChars?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The text of a PDF, each page under its number. Rejects with an Error whose message tells a model what is wrong with it, or with
 * the reason of the signal.
 */
export async function pdfText(
  bytes: Uint8Array,
  { name = "the document", maxChars = 2_000_000, signal = new AbortController().signal }: PdfTextOptions = {},
): Promise<string> {
  return withThread(name, TIMEOUT_MS, signal, async (ask) => {
    const total = await opened(name, bytes, ask, MAX_TEXT_UNPACKED);
    const parts: string[] = [];
    let room = maxChars;
    for (let number = 1; number <= total; number++) {
      const page = await ask<string>({ kind: "page", number, maxChars: room }).catch((fault) => {
        if (!(fault instanceof WorkFault)) throw fault;
        return "(This page is damaged.)";
      });
      const clean = tidy(page) || "(No text: the page may be a picture.)";
      if (clean.length > room) {
        parts.push(`[Page ${number} and what follows are left out.]`);
        break;
      }
      room -= clean.length;
      parts.push(`[Page ${number} of ${total}]\n${clean}`);
    }
    return parts.join("\n\n");
  });
}

/** Opens a PDF in the thread. Gives how many pages it has. Throws Failure. */
async function opened(path: string, bytes: Uint8Array, ask: Ask, maxUnpacked?: number): Promise<number> {
  const total = await ask<number>({ kind: "open", bytes, maxPixels: MAX_PIXELS, maxUnpacked }).catch((fault) => {
    throw unreadable(path, fault);
  });
  if (total === 0) throw new Failure("no pages", `${quote(path)} has no pages.`);
  return total;
}

/** The largest picture of a page; undefined where there is none, or none that can be shown. */
async function pictureOf(number: number, ask: Ask): Promise<Small | undefined> {
  return ask<Small | undefined>({ kind: "picture", number, target: TARGET }).catch((fault) => {
    if (!(fault instanceof WorkFault)) throw fault;
    return undefined;
  });
}

function unreadable(path: string, fault: unknown): unknown {
  if (!(fault instanceof WorkFault)) return fault;
  if (fault.name === "PasswordException") {
    return new Failure("encrypted", `${quote(path)} is encrypted: it can be read with its password only.`);
  }
  return new Failure("damaged", `${quote(path)} is damaged or broken off: ${fault.message.replace(/\.$/, "")}.`);
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
