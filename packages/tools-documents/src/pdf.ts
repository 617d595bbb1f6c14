import { nameOf, quote } from "@shedkit/fs";
import type { ToolCallResult } from "@shedkit/tool";
import type { FileFormat, FormatFile, FormatRequest } from "@shedkit/tools-files";
import { answering, Failure } from "./failure.js";
import { pagesOf } from "./pages.js";
import { checkSize, PagedText, TIMEOUT_MS } from "./text.js";
import { WorkFault, withThread } from "./work.js";

const MAGIC = "%PDF-";

/** The text of PDFs, by pages. */
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
    const total = await ask<number>({ kind: "open", bytes }).catch((fault) => {
      throw unreadable(path, fault);
    });
    const text = new PagedText("Page", total, request.maxBytes);
    for (const number of pagesOf(request, total, "page")) {
      const page = await ask<string>({ kind: "page", number, maxChars: text.room }).catch((fault) => {
        if (!(fault instanceof WorkFault)) throw fault;
        return undefined;
      });
      const empty = page === undefined ? "(This page is damaged.)" : "(No text: the page may be a picture.)";
      if (!text.add(number, page ?? "", empty, request.param("pages"))) break;
    }
    return text.result(path);
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
