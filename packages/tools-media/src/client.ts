/** What images are wanted. */
export interface ImageRequest {
  prompt: string;
  /** `WIDTHxHEIGHT`, or a word that the service knows. Default: the service's. */
  size?: string | undefined;
  count: number;
  /** How large one image may be, in bytes. */
  maxBytes: number;
  signal: AbortSignal;
}

/** An image that a service made. */
export interface GeneratedImage {
  data: Uint8Array;
  /** As the bytes themselves tell, e.g. `image/png`. */
  mediaType: string;
  /** What the service made of the prompt, where it says so. */
  revisedPrompt?: string | undefined;
}

/** Makes images: {@link openAIImages}, or a service of your own. */
export interface ImageClient {
  /** Whom it asks, as people are shown it when they are to permit a call: a host. */
  readonly host: string;
  /**
   * The images that were made: they may be fewer than were wanted, and are at least one. Rejects with ToolError:
   * `execution` with a `status` of 400 to 499 where the request was refused, `unauthorized`, `rateLimited`,
   * `network`, `timeout`, `serviceUnavailable`, `execution`; or with the reason of an aborted signal.
   */
  generate(request: ImageRequest): Promise<readonly GeneratedImage[]>;
}

/** What video is wanted. */
export interface VideoRequest {
  prompt: string;
  /** `WIDTHxHEIGHT`. Default: the service's. */
  size?: string | undefined;
  /** Default: the service's. */
  seconds?: number | undefined;
  /** What it begins with, or goes by. */
  image?: { data: Uint8Array<ArrayBuffer>; mediaType: string; name: string } | undefined;
}

/** How a video that is being made stands. */
export interface VideoJob {
  /** The service's own. */
  id: string;
  status: "queued" | "running" | "done" | "failed" | "cancelled";
  /** In percent, where the service says so. */
  progress?: number | undefined;
  /** Why it failed, where it did and the service says so. */
  error?: string | undefined;
}

/**
 * Makes videos, as jobs of a service: {@link openAIVideos}, or a service of your own. Rejections are those of {@link
 * ImageClient}.
 */
export interface VideoClient {
  readonly host: string;
  start(request: VideoRequest, options: { signal: AbortSignal }): Promise<VideoJob>;
  /** Rejects with ToolError `notFound` for a job that is not there (any more). */
  poll(id: string, options: { signal: AbortSignal }): Promise<VideoJob>;
  /** Resolves also where the job is gone already. */
  cancel(id: string, options: { signal: AbortSignal }): Promise<void>;
  /** The video of a job that is done; its bytes so far are told as they come. */
  download(
    id: string,
    options: { maxBytes: number; signal: AbortSignal; onProgress?: ((bytes: number) => void) | undefined },
  ): Promise<{ data: Uint8Array; mediaType: string }>;
}
