import { type FileSystem, quote } from "@shedkit/fs";
import { fitsModel, type ImageInfo, imageInfo, MAX_IMAGE, ToolCallResult, toBase64 } from "@shedkit/tool";
import { Failure } from "../failure.js";
import type { ReadOutput } from "../read.js";
import { count, plural } from "../text/format.js";

/** What stands at the start of a file, if it is an image; `fits`: it can be given to a model as it is. */
export async function imageAt(
  fs: FileSystem,
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<(ImageInfo & { fits: boolean }) | undefined> {
  const info = imageInfo(await fs.readFile(path, { end: MAX_IMAGE.bytes, signal }));
  return info && { ...info, fits: fitsModel(info, size) };
}

/** A small image as it is; undefined for what is none. Throws Failure for one that is too large, or broken off. */
export async function readImage(
  fs: FileSystem,
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<ToolCallResult | undefined> {
  const bytes = await fs.readFile(path, { end: MAX_IMAGE.bytes, signal });
  const info = imageInfo(bytes);
  if (!info) return undefined;
  const { mediaType, native, width, height } = info;
  if (!native) {
    const text = `${quote(path)} is an image of a kind that is not shown (${mediaType}). Make a PNG of it first.`;
    throw new Failure(`image of another kind: ${quote(path)}`, text);
  }
  const pixels = width * height === 0 ? "" : ` of ${width} x ${height} pixels`;
  if (!fitsModel(info, size)) {
    const text =
      `${quote(path)} is an image${pixels} and ${plural(size, "byte")}, too large to be shown: at most ` +
      `${count(MAX_IMAGE.bytes)} bytes, ${count(MAX_IMAGE.pixels)} pixels and ${count(MAX_IMAGE.side)} on a side. Make it smaller first.`;
    throw new Failure(`image too large: ${quote(path)}`, text);
  }
  if (!info.whole || width * height === 0) {
    throw new Failure(`broken image: ${quote(path)}`, `${quote(path)} is an image that is damaged or broken off.`);
  }
  const output: ReadOutput = {
    path,
    content: "",
    firstLine: 1,
    lines: 0,
    encoding: "binary",
    truncated: false,
    image: { mediaType, width, height },
  };
  const data = toBase64(bytes);
  return new ToolCallResult(
    [
      { type: "text", text: `[${quote(path)}: an image of ${width} x ${height} pixels.]` },
      { type: "image", source: { type: "base64", data }, mediaType, name: path },
    ],
    { output: { ...output } },
  );
}
