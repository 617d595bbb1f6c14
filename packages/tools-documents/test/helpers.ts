import { crc32, deflateSync } from "node:zlib";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { callTool, type ToolCallResult } from "@shedkit/tool";
import { type ReadParams, readTool } from "@shedkit/tools-files";
import { strToU8, type Zippable, zipSync } from "fflate";
import { documentFormats } from "../src/index.js";

/** What `read` gives of one file. */
export function read(
  name: string,
  bytes: Uint8Array,
  args: object = {},
  params: Partial<ReadParams> = {},
): Promise<ToolCallResult> {
  const tool = readTool(new MemoryFileSystem({ [name]: bytes }), params, documentFormats());
  return callTool(tool, { path: name, ...args });
}

/** A PDF with one text a page, its table of objects whole. */
export function pdf(pages: readonly string[], trailer = ""): Uint8Array {
  const kids = pages.map((_, i) => `${4 + i * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, i) => {
      const lines = text.split("\n").map((line) => `(${line}) Tj 0 -14 Td`);
      const content = text === "" ? "" : `BT /F1 12 Tf 72 720 Td ${lines.join(" ")} ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + i * 2} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const start = text.length;
  const count = objects.length + 1;
  text += `xref\n0 ${count}\n0000000000 65535 f \n${offsets.join("")}`;
  text += `trailer\n<< /Size ${count} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return new TextEncoder().encode(text);
}

const A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';
const R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const RELS = "http://schemas.openxmlformats.org/package/2006/relationships";

export function paragraphs(...lines: string[]): string {
  return lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join("");
}

/** A presentation; the slides' files are numbered from the last to the first. `more`: other parts. */
export function pptx(slides: readonly string[], more: { readonly [path: string]: string } = {}): Uint8Array {
  const fileOf = (i: number): string => `slides/slide${slides.length - i}.xml`;
  const parts: { [path: string]: string } = {
    "ppt/presentation.xml": `<p:presentation xmlns:p="p" ${R}><p:sldIdLst>${slides
      .map((_, i) => `<p:sldId id="${256 + i}" r:id="rId${i}"/>`)
      .join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": `<Relationships xmlns="${RELS}">${slides
      .map((_, i) => `<Relationship Id="rId${i}" Type="slide" Target="${fileOf(i)}"/>`)
      .join("")}</Relationships>`,
  };
  for (const [i, slide] of slides.entries()) parts[`ppt/${fileOf(i)}`] = slideOf(slide);
  return zip({ ...parts, ...more });
}

export function slideOf(body: string): string {
  return `<?xml version="1.0"?><p:sld xmlns:p="p" ${A}><p:cSld><p:txBody>${body}</p:txBody></p:cSld></p:sld>`;
}

export function zip(parts: { readonly [path: string]: string }): Uint8Array {
  const files: Zippable = {};
  for (const [path, text] of Object.entries(parts)) files[path] = [strToU8(text), { level: 1 }];
  return zipSync(files);
}

/** A PNG in colours without a pattern, so that it does not get small by packing. `claim`: another size in its header. */
export function png(width: number, height: number, claim = { width, height }): Uint8Array {
  const rows = new Uint8Array(height * (1 + width * 3));
  let seed = 1;
  for (let i = 0; i < rows.length; i++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    rows[i] = i % (1 + width * 3) === 0 ? 0 : seed >> 16;
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, claim.width);
  view.setUint32(4, claim.height);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 1 })),
    chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, crc]);
}

/** A PDF whose pages are pictures: three bytes a pixel, or one bit. */
export function scan(pages: readonly { width: number; height: number; bits: 1 | 8; data: Uint8Array }[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const add = (text: string): void => void parts.push(Buffer.from(text, "latin1"));
  add("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n");
  const kids = pages.map((_, i) => `${3 + i * 3} 0 R`).join(" ");
  add(`2 0 obj << /Type /Pages /Kids [${kids}] /Count ${pages.length} >> endobj\n`);
  for (const [i, { width, height, bits, data }] of pages.entries()) {
    const [page, content, image] = [3 + i * 3, 4 + i * 3, 5 + i * 3];
    const drawn = "q 600 0 0 700 0 0 cm /Im0 Do Q";
    const packed = deflateSync(data);
    add(
      `${page} 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /Im0 ${image} 0 R >> >> ` +
        `/Contents ${content} 0 R >> endobj\n${content} 0 obj << /Length ${drawn.length} >> stream\n${drawn}\nendstream endobj\n` +
        `${image} 0 obj << /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent ${bits} ` +
        `/ColorSpace /${bits === 1 ? "DeviceGray" : "DeviceRGB"} /Filter /FlateDecode /Length ${packed.length} >> stream\n`,
    );
    parts.push(packed);
    add("\nendstream endobj\n");
  }
  add(`trailer << /Size ${3 + pages.length * 3} /Root 1 0 R >>\n%%EOF`);
  return Buffer.concat(parts);
}

/** An uncompressed picture in red, as a BMP, in a TIFF, or in an icon (whose list may claim another size). */
export function bmp(width: number, height: number): Uint8Array {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bytes = Buffer.alloc(54 + row * height);
  bytes.write("BM");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) bytes[54 + y * row + x * 3 + 2] = 255;
  return bytes;
}

export function tiff(width: number, height: number): Uint8Array {
  const pixels = width * height * 3;
  const entries = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 3, 8 + pixels],
    [259, 3, 1, 1],
    [262, 3, 1, 2],
    [273, 4, 1, 8],
    [277, 3, 1, 3],
    [278, 4, 1, height],
    [279, 4, 1, pixels],
  ];
  const list = 8 + pixels + 6;
  const bytes = Buffer.alloc(list + 2 + entries.length * 12 + 4);
  bytes.write("II*\0", 0, "latin1");
  bytes.writeUInt32LE(list, 4);
  for (let i = 0; i < width * height; i++) bytes[8 + i * 3] = 255;
  for (let i = 0; i < 3; i++) bytes.writeUInt16LE(8, 8 + pixels + i * 2);
  bytes.writeUInt16LE(entries.length, list);
  for (const [i, [tag = 0, type = 0, count = 0, value = 0]] of entries.entries()) {
    const at = list + 2 + i * 12;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(type, at + 2);
    bytes.writeUInt32LE(count, at + 4);
    if (type === 3 && count === 1) bytes.writeUInt16LE(value, at + 8);
    else bytes.writeUInt32LE(value, at + 8);
  }
  return bytes;
}

export function ico(picture: Uint8Array, side: number): Uint8Array {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head[6] = side;
  head[7] = side;
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(24, 12);
  head.writeUInt32LE(picture.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, picture]);
}
