import { posix } from "node:path";
import { nameOf } from "@shedkit/fs";
import type { ToolCallResult } from "@shedkit/tool";
import type { FileFormat, FormatFile, FormatRequest } from "@shedkit/tools-files";
import { answering, Failure } from "./failure.js";
import { pagesOf } from "./pages.js";
import { checkSize, PagedText, TIMEOUT_MS } from "./text.js";
import { readXml } from "./xml.js";
import { Zip } from "./zip.js";

const MAIN = "ppt/presentation.xml";

/** The text of PowerPoint presentations, by slides, with the speaker's notes. */
export function pptxFormat(): FileFormat {
  return {
    paged: true,
    matches: ({ path }) => nameOf(path).toLowerCase().endsWith(".pptx"),
    read: (file, request) =>
      answering(async () => {
        try {
          return await readPptx(file, request);
        } catch (error) {
          if (!(error instanceof Failure) || !/^(It|Its|Unpacked) /.test(error.message)) throw error;
          throw new Failure(error.detail, `"${file.path}" cannot be read as a presentation. ${error.message}`);
        }
      }),
  };
}

async function readPptx(file: FormatFile, request: FormatRequest): Promise<ToolCallResult> {
  checkSize(file);
  const time = AbortSignal.timeout(TIMEOUT_MS);
  const signal = AbortSignal.any([request.signal, time]);
  try {
    const zip = await Zip.open(await request.fs.readFile(file.path, { signal }));
    const slides = await slidesOf(zip, signal);
    const text = new PagedText("Slide", slides.length, request.maxBytes);
    for (const number of pagesOf(request, slides.length, "slide")) {
      const slide = slides[number - 1] ?? "";
      const notes = [...(await relations(zip, slide, signal)).values()].find((path) => /\/notesSlides\//.test(path));
      const said = await textOf(zip, slide, signal);
      const noted = notes === undefined || !zip.has(notes) ? "" : await textOf(zip, notes, signal);
      const all = noted === "" ? said : `${said}\n\nNotes: ${noted}`;
      if (!text.add(number, all, "(No text.)", request.param("pages"))) break;
    }
    return text.result(file.path);
  } catch (error) {
    if (request.signal.aborted || !time.aborted) throw error;
    throw new Failure("timeout", `It could not be read within ${TIMEOUT_MS / 1000} s.`);
  }
}

/** The slides' paths, in the order of the presentation. */
async function slidesOf(zip: Zip, signal: AbortSignal): Promise<string[]> {
  const paths = await relations(zip, MAIN, signal);
  const slides: string[] = [];
  await readXml(zip.text(MAIN, signal), {
    open: (name, attribute) => {
      const path = name === "sldId" ? paths.get(attribute("r:id") ?? "") : undefined;
      if (path !== undefined && zip.has(path)) slides.push(path);
    },
  });
  return slides;
}

/** What a part of the presentation refers to: paths by id. */
async function relations(zip: Zip, path: string, signal: AbortSignal): Promise<Map<string, string>> {
  const folder = posix.dirname(path);
  const file = `${folder}/_rels/${posix.basename(path)}.rels`;
  const found = new Map<string, string>();
  if (!zip.has(file)) return found;
  await readXml(zip.text(file, signal), {
    open: (name, attribute) => {
      const [id, target] = [attribute("Id"), attribute("Target")];
      if (name !== "Relationship" || id === undefined || target === undefined) return;
      found.set(id, target.startsWith("/") ? target.slice(1) : posix.join(folder, target));
    },
  });
  return found;
}

/** The paragraphs of a slide, one a line; cells of a table's row side by side. */
async function textOf(zip: Zip, path: string, signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  let line = "";
  let cells: string[] = [];
  let inText = false;
  let inCell = false;
  let inNumber = false;
  const end = (): void => {
    lines.push(line);
    line = "";
  };
  await readXml(zip.text(path, signal), {
    open: (name, attribute) => {
      if (name === "t") inText = !inNumber;
      else if (name === "fld") inNumber = attribute("type") === "slidenum";
      else if (name === "tc") inCell = true;
      else if (name === "br" && inCell) line += " ";
      else if (name === "br") end();
    },
    close: (name) => {
      if (name === "t") inText = false;
      else if (name === "fld") inNumber = false;
      else if (name === "p" && inCell) line += " ";
      else if (name === "p") end();
      else if (name === "tc") {
        inCell = false;
        cells.push(line.trim());
        line = "";
      } else if (name === "tr") {
        lines.push(cells.join(" | "));
        cells = [];
      }
    },
    text: (piece) => {
      if (inText) line += piece;
    },
  });
  return [...lines, line].join("\n").trim();
}
