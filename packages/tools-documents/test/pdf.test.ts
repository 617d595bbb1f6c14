import { deflateSync, inflateSync } from "node:zlib";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { callTool } from "@shedkit/tool";
import { type FileFormat, type FormatRequest, readTool } from "@shedkit/tools-files";
import { expect, test } from "vitest";
import { documentFormats, pdfText } from "../src/index.js";
import { pagesOf } from "../src/pages.js";
import { withThread } from "../src/work.js";
import { pdf, read, scan } from "./helpers.js";

const numbered = (count: number): Uint8Array => pdf(Array.from({ length: count }, (_, i) => `text ${i + 1}`));

test("a PDF is read as text, page by page, by its name or by its first bytes", async () => {
  const bytes = pdf(["First line\nSecond line", "", "Third page"]);
  for (const name of ["paper.PDF", "download"]) {
    const { text, output } = await read(name, bytes);
    expect(text).toBe(
      "[Page 1 of 3]\nFirst line\nSecond line\n\n[Page 2 of 3]\n(No text: the page may be a picture.)\n\n[Page 3 of 3]\nThird page",
    );
    expect(output).toMatchObject({ path: name, truncated: false, firstLine: 1 });
  }
});

test("the text of one that is no file: all its pages, up to a size; what is wrong is told by its name", async () => {
  expect(await pdfText(pdf(["First line\nSecond line", "", "Third"]))).toBe(
    "[Page 1 of 3]\nFirst line\nSecond line\n\n[Page 2 of 3]\n(No text: the page may be a picture.)\n\n[Page 3 of 3]\nThird",
  );
  expect((await pdfText(numbered(30))).match(/\[Page \d+ of 30\]/g)).toHaveLength(30);
  const cut = await pdfText(numbered(30), { maxChars: 20 });
  expect(cut).toBe(
    "[Page 1 of 30]\ntext 1\n\n[Page 2 of 30]\ntext 2\n\n[Page 3 of 30]\ntext 3\n\n[Page 4 and what follows are left out.]",
  );
  const broken = pdfText(new TextEncoder().encode("%PDF-1.4 no more"), { name: "https://a.b/x.pdf" });
  await expect(broken).rejects.toThrow('"https://a.b/x.pdf" is damaged or broken off');
  const given = pdfText(numbered(30), { signal: AbortSignal.abort(new Error("enough")) });
  await expect(given).rejects.toThrow("enough");
});

test.each([1, 2])("what unpacks to more than it may is not unpacked, packed %d times", async (times) => {
  let data: Uint8Array = new Uint8Array(16 * 1024 * 1024).fill(0x20);
  for (let i = 0; i < times; i++) data = deflateSync(data);
  const objects = [
    "1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj",
    "2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj",
    "3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << >> /Contents 4 0 R >> endobj",
    `4 0 obj << /Length ${data.length} /Filter [${"/FlateDecode ".repeat(times)}] >> stream`,
  ];
  const head = Buffer.from(`%PDF-1.4\n${objects.join("\n")}\n`);
  const bytes = Buffer.concat([
    head,
    data,
    Buffer.from("\nendstream endobj\ntrailer << /Size 5 /Root 1 0 R >>\n%%EOF"),
  ]);
  const page = (maxUnpacked: number | undefined) =>
    withThread("a.pdf", 60_000, new AbortController().signal, async (ask) => {
      await ask({ kind: "open", bytes: new Uint8Array(bytes), maxPixels: 100, maxUnpacked });
      return ask<string>({ kind: "page", number: 1, maxChars: 100 });
    });
  expect(await page(undefined)).toBe("");
  await expect(page(1024 * 1024)).rejects.toThrow("it unpacks to too much");
});

test("of a long one pages are asked for: numbers and ranges, twenty at most", async () => {
  const bytes = numbered(30);
  const pages = async (asked: string): Promise<string> => (await read("a.pdf", bytes, { pages: asked })).text;
  expect((await read("a.pdf", bytes)).text).toBe(
    "It has 30 pages: name those you want with pages, e.g. 1-10; 20 are the most of one call.",
  );
  const numbers = async (asked: string): Promise<string> =>
    [...(await pages(asked)).matchAll(/Page (\d+) of 30\]\ntext \1/g)].map(([, number]) => number).join();
  expect(await numbers("28-")).toBe("28,29,30");
  expect(await numbers("9, 2-4,3,-1")).toBe("1,2,3,4,9");
  expect(await numbers("29-99")).toBe("29,30");
  expect(await pages("1-21")).toBe(
    "pages 1-21 is more than 20 pages, the most of one call. It has 30 pages; ask for fewer.",
  );
  expect(await pages("31")).toBe("It has 30 pages; pages 31 is past its end.");
});

test.each(["two", "5-2", "0", "1,,2", "-", "1.5", "1-2-3", ",", "1 2"])(
  "pages %j are refused, with what is wanted",
  (pages) => {
    const request = { pages, param: (name: string) => name } as FormatRequest;
    expect(() => pagesOf(request, 30, "page")).toThrow("wanted are numbers and ranges, e.g. 1-5,8 or 10-.");
  },
);

test("what does not fit into one call is said, and how to go on", async () => {
  const lines = (letter: string, count: number): string => Array(count).fill(letter.repeat(60)).join("\n");
  const bytes = pdf([lines("a", 5), lines("b", 5), lines("c", 15)]);
  const params = { maxTokens: 100 };
  expect((await read("a.pdf", bytes, {}, params)).text).toBe(
    `[Page 1 of 3]\n${lines("a", 5)}\n\n[Page 2 and what follows do not fit into one call. Go on with pages 2-.]`,
  );
  const last = await read("a.pdf", bytes, { pages: "3" }, params);
  expect(last.text).toMatch(/^\[Page 3 of 3\]\n[c\n]+\n\n\[Page 3 is too long for one call; its end is left out\.\]$/);
  expect(last.output).toMatchObject({ truncated: true });
});

test("what is no PDF, broken off, encrypted or too large is told", async () => {
  const text = async (bytes: Uint8Array): Promise<string> => {
    const result = await read("a.pdf", bytes);
    expect(result.errorDetail).toBeDefined();
    return result.text;
  };
  expect(await text(new TextEncoder().encode("hello"))).toBe(
    '"a.pdf" is called a PDF, and is none: its header is missing.',
  );
  expect(await text(new TextEncoder().encode("%PDF-1.4\nnothing more"))).toContain('"a.pdf" is damaged or broken off:');
  const secret = "0".repeat(64);
  const encrypted = `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${secret}> /U <${secret}> >>`;
  expect(await text(pdf(["x"], encrypted))).toBe('"a.pdf" is encrypted: it can be read with its password only.');
  expect(await text(new Uint8Array(50 * 1024 * 1024 + 1).fill(0x25))).toContain(
    "at most 52428800 of a document are read",
  );
});

test("a call that is aborted ends at once, and its thread with it", async () => {
  const tool = readTool(new MemoryFileSystem({ "a.pdf": numbered(10) }), {}, documentFormats());
  const abort = new AbortController();
  const call = callTool(tool, { path: "a.pdf" }, { signal: abort.signal });
  abort.abort();
  await expect(call).rejects.toThrow();
});

test("pages are a parameter only where something has pages", () => {
  const names = (formats: readonly FileFormat[]): string => {
    const tool = readTool(new MemoryFileSystem(), {}, formats).definition();
    if (tool.type !== "single") return "";
    return Object.keys((tool.definition.arguments as { properties: object }).properties).join();
  };
  expect(names(documentFormats())).toBe("path,offset,limit,pages");
  expect(names([])).toBe("path,offset,limit");
});

test("of a page without text its picture is shown, whichever way its pixels are kept", async () => {
  const [width, height] = [160, 120];
  const black = { width, height, bits: 1 as const, data: new Uint8Array((width / 8) * height) };
  const red = new Uint8Array(width * height * 3);
  for (let i = 0; i < red.length; i += 3) red[i] = 255;
  const bytes = scan([{ width, height, bits: 8, data: red }, black]);
  const { text, content } = await read("a.pdf", bytes);
  expect(text).toBe(
    "[Page 1 of 2]\n(No text. Picture 1 below is on this page.)\n\n[Page 2 of 2]\n(No text. Picture 2 below is on this page.)",
  );
  const pictures = content.flatMap((part) => (part.type === "image" ? [part] : []));
  expect(pictures.map(({ name }) => name)).toEqual(["a.pdf, page 1", "a.pdf, page 2"]);
  expect(pictures.map(({ source }) => source.type === "base64" && firstPixel(source.data))).toEqual([
    [255, 0, 0],
    [0, 0, 0],
  ]);
  const without = await read("a.pdf", bytes, { pages: "1" }, { images: false });
  expect([without.text, without.content.length]).toEqual(["[Page 1 of 2]\n(No text: the page may be a picture.)", 1]);
});

test("more pictures than fit are asked for page by page; small ones are not shown", async () => {
  const page = (side: number) => ({
    width: side,
    height: side,
    bits: 1 as const,
    data: new Uint8Array((side / 8) * side),
  });
  const many = await read("a.pdf", scan(Array.from({ length: 7 }, () => page(104))));
  expect(many.content.filter(({ type }) => type === "image").length).toBe(5);
  expect(many.text).toContain("[Page 6 of 7]\n(No text: the page may be a picture. Ask for pages 6 to see it.)");
  expect((await read("a.pdf", scan([page(40)]))).content.length).toBe(1);
});

test("a PDF without pages is told", async () => {
  const bytes = pdf([]);
  expect((await read("a.pdf", bytes)).text).toBe('"a.pdf" has no pages.');
});

/** Of a PNG without an alpha channel's first row filtered: red, green and blue. */
function firstPixel(data: string): number[] {
  const bytes = Buffer.from(data, "base64");
  const pieces: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString("latin1", at + 4, at + 8) === "IDAT") {
      pieces.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
    }
  }
  return [...inflateSync(Buffer.concat(pieces)).subarray(1, 4)];
}
