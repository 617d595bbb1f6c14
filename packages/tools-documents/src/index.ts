import type { FileFormat } from "@shedkit/tools-files";
import { imageFormat } from "./image.js";
import { type PdfTextOptions, pdfFormat, pdfText } from "./pdf.js";
import { pptxFormat } from "./pptx.js";

/** PDFs, presentations and large images: for `readTool(fs, params, documentFormats())`. */
export function documentFormats(): FileFormat[] {
  return [pdfFormat(), pptxFormat(), imageFormat()];
}

export { imageFormat, type PdfTextOptions, pdfFormat, pdfText, pptxFormat };
