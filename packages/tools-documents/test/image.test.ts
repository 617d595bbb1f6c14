import { expect, test } from "vitest";
import { bmp, ico, png, read, tiff } from "./helpers.js";

/** Width and height of a PNG or a JPEG that was given to a model, and how large it is. */
async function shown(bytes: Uint8Array): Promise<{ text: string; type: string; size: number; output: unknown }> {
  const { content, text, output } = await read("a.png", bytes);
  const image = content.find((part) => part.type === "image");
  if (image?.type !== "image" || image.source.type !== "base64") throw new Error(`no image: ${text}`);
  return { text, type: image.mediaType, size: Buffer.from(image.source.data, "base64").length, output };
}

test("a large image is scaled down to what a model takes, its sides in proportion", async () => {
  const { text, size, type, output } = await shown(png(2400, 600));
  expect(text).toMatch(/^\["a\.png" is an image of 2400 x 600 pixels, shown at (\d+) x (\d+)\.\]$/);
  const [, width = 0, height = 0] = (/shown at (\d+) x (\d+)/.exec(text) ?? []).map(Number);
  expect(width).toBeLessThanOrEqual(2000);
  expect(Math.abs(width / height - 4)).toBeLessThan(0.05);
  expect(size).toBeLessThanOrEqual(576 * 1024);
  expect(output).toMatchObject({ image: { mediaType: type, width, height } });
});

test("a small image is given as it is", async () => {
  const bytes = png(40, 30);
  const { text, type, size } = await shown(bytes);
  expect(text).toBe('["a.png": an image of 40 x 30 pixels.]');
  expect([type, size]).toEqual(["image/png", bytes.length]);
});

test("an image that says it is huge is not unpacked; a damaged one is told", async () => {
  const said = async (bytes: Uint8Array): Promise<string> => (await read("a.png", bytes)).text;
  expect(await said(png(10, 10, { width: 60_000, height: 60_000 }))).toBe(
    '"a.png" is an image of 60000 x 60000 pixels; at most 50000000 are unpacked. Make it smaller first.',
  );
  expect(await said(png(10, 10, { width: 3000, height: 3000 }))).toContain("damaged or broken off");
  expect(await said(png(1500, 1500).subarray(0, -100))).toContain("damaged or broken off");
  expect((await read("a.png", png(1500, 1500), {}, { images: false })).text).toContain("is not a text file");
});

test("kinds that models do not read become a PNG, the large ones scaled down", async () => {
  for (const [name, bytes] of Object.entries({ bmp: bmp(301, 200), tiff: tiff(301, 200) })) {
    const { text, type, output } = await shown(bytes);
    expect([name, text]).toEqual([name, '["a.png" is an image of 301 x 200 pixels, shown at 301 x 200.]']);
    expect(type).toBe("image/png");
    expect(output).toMatchObject({ image: { mediaType: "image/png", width: 301, height: 200 } });
  }
  expect((await shown(ico(png(48, 48), 48))).text).toContain("shown at 48 x 48.");
  const masked = Buffer.concat([bmp(48, 48).subarray(14), new Uint8Array((48 * 64) / 8)]);
  masked.writeInt32LE(96, 8);
  expect((await shown(ico(masked, 48))).text).toContain("shown at 48 x 48.");
  expect((await shown(bmp(2400, 600))).text).toContain("of 2400 x 600 pixels, shown at 2000 x 500.");
});

test("of other kinds, too, nothing huge is unpacked, and nothing damaged is shown", async () => {
  const said = async (bytes: Uint8Array): Promise<string> => (await read("a.bin", bytes)).text;
  const inside = png(10, 10, { width: 60_000, height: 60_000 });
  expect(await said(ico(inside, 10))).toContain("is an image of 60000 x 60000 pixels; at most 50000000 are unpacked");
  const large = Buffer.from(bmp(10, 10));
  large.writeInt32LE(60_000, 18);
  large.writeInt32LE(-60_000, 22);
  expect(await said(large)).toContain("is an image of 60000 x 60000 pixels; at most");
  const wide = Buffer.from(tiff(10, 10));
  wide.writeUInt32LE(0xffffffff, wide.length - 4 - 9 * 12 + 8);
  expect(await said(wide)).toContain("is an image of 4294967295 x 10 pixels; at most");
  expect(await said(tiff(100, 100).subarray(0, -60))).toContain("is an image that is damaged or broken off");
  expect(await said(bmp(100, 100).subarray(0, 20_000))).toContain("is an image that is damaged or broken off");
  expect((await read("a.bmp", bmp(30, 30), {}, { images: false })).text).toContain("is not a text file");
});
