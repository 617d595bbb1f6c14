import { ToolError, toBase64 } from "@shedkit/tool";
import { brokenOff, bytesOf } from "./body.js";
import type { VideoClient, VideoJob, VideoRequest } from "./client.js";
import { Endpoint, type MediaEndpoint, unexpected } from "./endpoint.js";
import { isWhole, mediaTypeOf } from "./media-type.js";

/** Where a service for videos is, and how it takes a job. */
export interface OpenAIVideosOptions extends MediaEndpoint {
  /**
   * How a job is described: as a form, which OpenAI and vLLM-Omni take, or as JSON, which OpenRouter takes. Default:
   * `form`.
   */
  body?: "form" | "json" | undefined;
}

const MAX_JSON = 1024 * 1024; // bytes

/** What services call the states of a job. */
const STATES: { readonly [status: string]: VideoJob["status"] } = {
  queued: "queued",
  pending: "queued",
  submitted: "queued",
  completed: "done",
  complete: "done",
  succeeded: "done",
  success: "done",
  failed: "failed",
  error: "failed",
  expired: "failed",
  cancelled: "cancelled",
  canceled: "cancelled",
  deleted: "cancelled",
};

/**
 * Makes videos by a service that speaks OpenAI's `/videos`: vLLM-Omni, SGLang, OpenRouter, gateways and others. A job
 * is started by POST, asked for by GET, cancelled by DELETE, and its video is below `/content`. Throws TypeError for
 * a `baseUrl` that is no HTTP URL.
 */
export function openAIVideos(options: OpenAIVideosOptions): VideoClient {
  const endpoint = new Endpoint("openAIVideos", options);
  const accept = { accept: "application/json" };
  const jobOf = async (response: Response, signal: AbortSignal) =>
    asJob(endpoint, await endpoint.json(response, MAX_JSON, signal));
  return {
    host: endpoint.host,
    start: async (request, { signal }) => {
      const fields = fieldsOf(request, options);
      const asking =
        options.body === "json"
          ? { headers: { ...accept, "content-type": "application/json" }, body: jsonOf(fields, request) }
          : { headers: accept, body: formOf(fields, request) };
      return jobOf(await endpoint.ask(endpoint.url("videos"), { method: "POST", ...asking, signal }), signal);
    },
    poll: async (id, { signal }) => {
      const job = await jobOf(
        await endpoint.ask(urlOf(endpoint, id), { method: "GET", headers: accept, signal }),
        signal,
      );
      return { ...job, id };
    },
    cancel: async (id, { signal }) => {
      try {
        const response = await endpoint.ask(urlOf(endpoint, id), { method: "DELETE", headers: accept, signal });
        await response.body?.cancel();
      } catch (error) {
        if (!(error instanceof ToolError && error.kind === "notFound")) throw error;
      }
    },
    download: async (id, { maxBytes, signal, onProgress }) => {
      const url = urlOf(endpoint, id, "/content");
      const response = await endpoint.ask(url, { method: "GET", headers: { accept: "video/*" }, signal });
      const type = response.headers.get("content-type") ?? "";
      if (/^(?:application\/json|text\/)/.test(type)) {
        const said = endpoint.saidIn(await endpoint.json(response, MAX_JSON, signal).catch(() => undefined));
        throw unexpected(
          `${endpoint.host} gave no video${said === undefined ? `, but ${type.split(";")[0]}` : `: ${said}`}.`,
        );
      }
      const data = await bytesOf(response, maxBytes, endpoint.host, { signal, onProgress });
      const mediaType = mediaTypeOf(data);
      if (mediaType === undefined || !mediaType.startsWith("video/")) {
        throw unexpected(`${endpoint.host} gave ${data.length} bytes that are no video.`);
      }
      if (!isWhole(data, mediaType)) throw brokenOff(endpoint.host, data.length);
      return { data, mediaType };
    },
  };
}

function urlOf(endpoint: Endpoint, id: string, below = ""): URL {
  if (/^\.{0,2}$/.test(id)) throw unexpected(`${JSON.stringify(id)} cannot be the id of a video.`);
  return endpoint.url(`videos/${encodeURIComponent(id)}${below}`);
}

type Fields = { readonly [field: string]: unknown };

function fieldsOf({ prompt, size, seconds }: VideoRequest, { model, extra, body }: OpenAIVideosOptions): Fields {
  return {
    ...extra,
    prompt,
    ...(model !== undefined && { model }),
    ...(size !== undefined && { size }),
    ...(seconds !== undefined && { seconds: body === "json" ? seconds : String(seconds) }),
  };
}

function formOf(fields: Fields, { image }: VideoRequest): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  if (image) form.append("input_reference", new Blob([image.data], { type: image.mediaType }), image.name);
  return form;
}

function jsonOf(fields: Fields, { image }: VideoRequest): string {
  if (!image) return JSON.stringify(fields);
  const url = `data:${image.mediaType};base64,${toBase64(image.data)}`;
  return JSON.stringify({ ...fields, input_reference: { image_url: url } });
}

function asJob(endpoint: Endpoint, body: { [key: string]: unknown }): VideoJob {
  const { id, status, progress, error } = body;
  if (typeof id !== "string" || typeof status !== "string") {
    const said = endpoint.saidIn({ error });
    throw unexpected(`${endpoint.host} answered with no video job${said === undefined ? "." : `: ${said}`}`);
  }
  const said = endpoint.saidIn({ error });
  return {
    id,
    status: Object.hasOwn(STATES, status.toLowerCase()) ? (STATES[status.toLowerCase()] ?? "running") : "running",
    ...(typeof progress === "number" && progress >= 0 && { progress: Math.min(100, Math.round(progress)) }),
    ...(said !== undefined && { error: said }),
  };
}
