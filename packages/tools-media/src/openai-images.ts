import { ToolError } from "@shedkit/tool";
import { brokenOff, bytesOf } from "./body.js";
import type { GeneratedImage, ImageClient, ImageRequest } from "./client.js";
import { Endpoint, type MediaEndpoint, unexpected } from "./endpoint.js";
import { fromBase64, isWhole, mediaTypeOf } from "./media-type.js";

/** In characters. */
const MAX_REVISED = 4000;
const BESIDES = 256 * 1024; // bytes of an answer besides its images

/**
 * Makes images by a service that speaks OpenAI's `/images/generations`: OpenAI, vLLM-Omni, SGLang, LocalAI,
 * stable-diffusion.cpp's server and others. Images may come as base64 or as addresses. Throws TypeError for a
 * `baseUrl` that is no HTTP URL.
 */
export function openAIImages(options: MediaEndpoint): ImageClient {
  const endpoint = new Endpoint("openAIImages", options);
  const { model, extra } = options;
  return {
    host: endpoint.host,
    generate: async (request) => {
      const { prompt, size, count, maxBytes, signal } = request;
      const body = {
        ...extra,
        prompt,
        ...(model !== undefined && { model }),
        ...(size !== undefined && { size }),
        n: count,
      };
      const response = await endpoint.ask(endpoint.url("images/generations"), {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify(body),
        signal,
      });
      const most = Math.ceil((maxBytes * 4) / 3) * count + BESIDES;
      const answer = await endpoint.json(response, most, signal);
      const { data } = answer;
      if (!Array.isArray(data) || data.length === 0) {
        const said = endpoint.saidIn({ error: answer.error });
        throw unexpected(`${endpoint.host} made no image${said === undefined ? "." : `: ${said}`}`);
      }
      const images: GeneratedImage[] = [];
      // One after the other: they are large.
      for (const item of data.slice(0, count)) images.push(await imageOf(item, endpoint, request));
      return images;
    },
  };
}

async function imageOf(item: unknown, endpoint: Endpoint, request: ImageRequest): Promise<GeneratedImage> {
  const { b64_json, url, revised_prompt } = (item ?? {}) as { [key: string]: unknown };
  const data =
    typeof b64_json === "string"
      ? decoded(b64_json, endpoint, request.maxBytes)
      : typeof url === "string"
        ? await loaded(url, endpoint, request)
        : undefined;
  if (data === undefined)
    throw unexpected(`${endpoint.host} answered with an image that has neither b64_json nor url.`);
  const mediaType = mediaTypeOf(data);
  if (mediaType === undefined || !mediaType.startsWith("image/")) {
    throw unexpected(`${endpoint.host} gave ${data.length} bytes that are no image.`);
  }
  if (!isWhole(data, mediaType)) throw brokenOff(endpoint.host, data.length);
  const revised = typeof revised_prompt === "string" && revised_prompt !== request.prompt;
  return { data, mediaType, ...(revised && { revisedPrompt: endpoint.plain(revised_prompt, MAX_REVISED) }) };
}

function decoded(text: string, endpoint: Endpoint, maxBytes: number): Uint8Array<ArrayBuffer> {
  const data = fromBase64(text.replace(/^data:[^,]{0,100};base64,/, ""));
  if (data === undefined) throw unexpected(`${endpoint.host} answered with an image that is no base64.`);
  if (data.length > maxBytes) {
    throw new ToolError("execution", "media", `An image has ${data.length} bytes; ${maxBytes} are the most.`);
  }
  return data;
}

async function loaded(
  address: string,
  endpoint: Endpoint,
  { maxBytes, signal }: ImageRequest,
): Promise<Uint8Array<ArrayBuffer>> {
  if (address.startsWith("data:")) return decoded(address, endpoint, maxBytes);
  const url = endpoint.assertReachable(address);
  const response = await endpoint.ask(url, { method: "GET", headers: { accept: "image/*" }, signal });
  return bytesOf(response, maxBytes, url.host, { signal });
}
