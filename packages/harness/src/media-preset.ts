import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import { given, type Settings } from "./given.js";
import { optionalPeer } from "./optional-peer.js";

/** What makes images: the `ImageClient` of `@shedkit/tools-media`, such as `openAIImages(...)`. */
export interface ImageMaker {
  readonly host: string;
  generate(request: {
    prompt: string;
    size?: string | undefined;
    count: number;
    maxBytes: number;
    signal: AbortSignal;
  }): Promise<readonly { data: Uint8Array; mediaType: string; revisedPrompt?: string | undefined }[]>;
}

/** How a video that is being made stands, likewise. */
export interface VideoState {
  id: string;
  status: "queued" | "running" | "done" | "failed" | "cancelled";
  progress?: number | undefined;
  error?: string | undefined;
}

/** What makes videos: the `VideoClient` of `@shedkit/tools-media`, such as `openAIVideos(...)`. */
export interface VideoMaker {
  readonly host: string;
  start(
    request: {
      prompt: string;
      size?: string | undefined;
      seconds?: number | undefined;
      image?: { data: Uint8Array<ArrayBuffer>; mediaType: string; name: string } | undefined;
    },
    options: { signal: AbortSignal },
  ): Promise<VideoState>;
  poll(id: string, options: { signal: AbortSignal }): Promise<VideoState>;
  cancel(id: string, options: { signal: AbortSignal }): Promise<void>;
  download(
    id: string,
    options: { maxBytes: number; signal: AbortSignal; onProgress?: ((bytes: number) => void) | undefined },
  ): Promise<{ data: Uint8Array; mediaType: string }>;
}

/** The clients of media tools, and the tools' settings as `@shedkit/tools-media` describes them. */
export interface MediaPresetOptions {
  /** Default: nothing, and there is no `image_gen`. */
  images?: ImageMaker | undefined;
  /** Default: nothing, and there is no `video`. */
  videos?: VideoMaker | undefined;
  image_gen?:
    | Settings<{
        folder: string;
        sizes: string[];
        maxCount: number;
        maxBytes: number;
        showBytes: number;
        timeoutMs: number;
      }>
    | undefined;
  video?:
    | Settings<{
        folder: string;
        sizes: string[];
        maxSeconds: number;
        maxBytes: number;
        pollMs: number;
        timeoutMs: number;
        downloadMs: number;
      }>
    | undefined;
}

/** The tools of the clients that there are, as constructors that import their package. */
export function mediaTools(
  fs: FileSystem,
  { images, videos, image_gen, video }: MediaPresetOptions,
): readonly ToolConstructor[] {
  const tools = () => optionalPeer("@shedkit/tools-media", () => import("@shedkit/tools-media"));
  const ready = (name: string, construct: ToolConstructor["construct"]) => ({ name, needsSession: false, construct });
  return [
    ...(images ? [ready("image_gen", async () => (await tools()).imageGenTool(images, fs, given(image_gen)))] : []),
    ...(videos ? [ready("video", async () => (await tools()).videoTool(videos, fs, given(video)))] : []),
  ];
}
