import type { FileFormat } from "@shedkit/tools-files";
import { imageFormat } from "./image.js";
import { pdfFormat } from "./pdf.js";
import { pptxFormat } from "./pptx.js";

/** PDFs, presentations and large images: for `readTool(fs, params, documentFormats())`. */
export function documentFormats(): FileFormat[] {
  return [pdfFormat(), pptxFormat(), imageFormat()];
}

export { imageFormat, pdfFormat, pptxFormat };
