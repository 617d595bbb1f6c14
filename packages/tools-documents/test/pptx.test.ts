import { expect, test } from "vitest";
import { paragraphs, pptx, read, slideOf, zip } from "./helpers.js";

const text = async (bytes: Uint8Array, args: object = {}): Promise<string> =>
  (await read("talk.pptx", bytes, args)).text;

test("a presentation is read slide by slide, in its own order, with tables and notes", async () => {
  const row = (...cells: string[]): string =>
    `<a:tr>${cells.map((cell) => `<a:tc><a:txBody>${paragraphs(cell)}</a:txBody></a:tc>`).join("")}</a:tr>`;
  const bytes = pptx(
    [
      paragraphs("Title &amp; more", "Grüße 日本 😀"),
      `<a:tbl>${row("Name", "Port")}${row("web", "80")}</a:tbl>`,
      `<a:p><a:r><a:t>one</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p>`,
    ],
    {
      "ppt/slides/_rels/slide3.xml.rels":
        '<Relationships><Relationship Id="x" Type="n" Target="../notesSlides/notesSlide1.xml"/></Relationships>',
      "ppt/notesSlides/notesSlide1.xml": slideOf(
        `${paragraphs("Say hello.")}<a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p>`,
      ),
    },
  );
  expect(await text(bytes)).toBe(
    "[Slide 1 of 3]\nTitle & more\nGrüße 日本 😀\n\nNotes: Say hello.\n\n" +
      "[Slide 2 of 3]\nName | Port\nweb | 80\n\n[Slide 3 of 3]\none\ntwo",
  );
  expect(await text(bytes, { pages: "2" })).toBe("[Slide 2 of 3]\nName | Port\nweb | 80");
});

test("what is no presentation, or damaged, is told", async () => {
  const no = '"talk.pptx" cannot be read as a presentation. ';
  expect(await text(new TextEncoder().encode("hello"))).toContain(`${no}It is damaged or broken off: `);
  expect(await text(zip({ "word/document.xml": "<a/>" }))).toBe(`${no}It has no ppt/presentation.xml.`);
  const whole = pptx([paragraphs("x".repeat(1000))]);
  expect(await text(whole.subarray(0, whole.length - 40))).toContain(`${no}It is damaged or broken off: `);
  expect(await text(pptx(["<a:p><a:t>never closed"]))).toContain(`${no}Its XML is damaged: `);
});

test("bombs are refused: parts too large, nested too deeply, entities, sizes that lie", async () => {
  expect(await text(pptx([paragraphs(" ".repeat(9 * 1024 * 1024))]))).toContain(
    "Unpacked it is too large: ppt/slides/slide1.xml",
  );
  const many = Array.from({ length: 5 }, () => paragraphs(" ".repeat(7 * 1024 * 1024)));
  expect(await text(pptx(many))).toContain("Unpacked it is too large: ");
  expect(await text(pptx(["<a:p>".repeat(600) + "</a:p>".repeat(600)]))).toContain("Its XML is nested too deeply.");
  const entity = pptx([], { "ppt/presentation.xml": '<!DOCTYPE p [<!ENTITY a "aaaa">]><p>&a;</p>' });
  expect(await text(entity)).toContain("Its XML is damaged: ");

  const lies = pptx([paragraphs("y".repeat(200_000))]);
  const view = new DataView(lies.buffer, lies.byteOffset, lies.byteLength);
  let changed = 0;
  for (let at = 0; at + 46 < lies.length; at++) {
    // The size that the table of contents states of the slide.
    if (view.getUint32(at, true) !== 0x02014b50 || view.getUint32(at + 24, true) < 200_000) continue;
    view.setUint32(at + 24, 10, true);
    changed++;
  }
  expect(changed).toBe(1);
  expect(await text(lies)).toContain("It is damaged or broken off: ");
});
