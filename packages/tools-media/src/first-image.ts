import { type FileSystem, quote } from "@shedkit/fs";
import { ToolCallResult, type ToolContext } from "@shedkit/tool";
import type { VideoRequest } from "./client.js";
import { mediaTypeOf, SHOWABLE } from "./media-type.js";
import { refusedBy } from "./save.js";

const MAX_IMAGE = 20 * 1024 * 1024; // bytes

/** The image that a video begins with, or a failed result where the file is none. Throws ToolError. */
export async function imageAt(
  fs: FileSystem,
  path: string,
  ctx: ToolContext,
): Promise<VideoRequest["image"] | ToolCallResult> {
  try {
    const { size } = await fs.stat(path, { signal: ctx.signal });
    if (size > MAX_IMAGE) {
      return ToolCallResult.failure("image too large", `${quote(path)} has ${size} bytes; ${MAX_IMAGE} are the most.`);
    }
    const data = await fs.readFile(path, { signal: ctx.signal, end: MAX_IMAGE });
    const mediaType = mediaTypeOf(data);
    if (mediaType !== undefined && SHOWABLE.has(mediaType)) {
      return { data, mediaType, name: path.slice(path.lastIndexOf("/") + 1) };
    }
    return ToolCallResult.failure("no image", `${quote(path)} is no PNG, JPEG, WebP or GIF. Nothing was started.`);
  } catch (error) {
    throw refusedBy(error, ctx.names.tool);
  }
}
