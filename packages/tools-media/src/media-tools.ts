import type { FileSystem } from "@shedkit/fs";
import type { ToolImpl } from "@shedkit/tool";
import type { ImageClient, VideoClient } from "./client.js";
import { type ImageGenParams, imageGenTool } from "./image-gen.js";
import { type VideoParams, videoTool } from "./video.js";

/** Which services make media, and the tools' settings. */
export interface MediaToolsOptions {
  /** What makes images. Default: nothing, and there is no `image_gen`. */
  images?: ImageClient | undefined;
  /** What makes videos. Default: nothing, and there is no `video`. */
  videos?: VideoClient | undefined;
  image_gen?: Partial<ImageGenParams> | undefined;
  video?: Partial<VideoParams> | undefined;
}

/** The tools of the clients that there are, which save in a file system: `shed.tools(mediaTools(fs, { images }))`. */
export function mediaTools(fs: FileSystem, { images, videos, image_gen, video }: MediaToolsOptions): ToolImpl[] {
  return [...(images ? [imageGenTool(images, fs, image_gen)] : []), ...(videos ? [videoTool(videos, fs, video)] : [])];
}
