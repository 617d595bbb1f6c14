import type { ImageMaker, VideoMaker, WebSearcher } from "@shedkit/harness";
import type { JsonValue } from "@shedkit/types";
import { UsageError } from "./exit.js";

/** What reaches services that search the web and make images and videos. In all texts `${NAME}` is a variable. */
export interface Services {
  /** An instance of SearXNG. */
  search?: SearchService | undefined;
  /** Speak OpenAI's wire. */
  images?: MediaService | undefined;
  videos?: (MediaService & { body?: "form" | "json" | undefined }) | undefined;
}

interface SearchService {
  baseUrl: string;
  language?: string | undefined;
  categories?: string[] | undefined;
  headers?: { [name: string]: string } | undefined;
}

interface MediaService {
  baseUrl: string;
  apiKey?: string | undefined;
  model?: string | undefined;
  headers?: { [name: string]: string } | undefined;
  extra?: { [field: string]: JsonValue } | undefined;
}

/** The clients of the services; a tool is there where its client is. */
export interface Clients {
  search?: WebSearcher | undefined;
  images?: ImageMaker | undefined;
  videos?: VideoMaker | undefined;
}

interface Fault {
  path: readonly string[];
  got: unknown;
  wanted: string;
}

type Check = readonly [accepts: (value: unknown) => boolean, wanted: string];

const text: Check = [(value) => typeof value === "string" && value !== "", "a text"];
const texts: Check = [
  (value) => isObject(value) && Object.values(value).every((each) => typeof each === "string"),
  "texts by name",
];
const list: Check = [
  (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  "a list of texts",
];
const baseUrl: Check = [
  (value) => typeof value === "string" && (value.includes("${") || isHttp(value)),
  'a URL, e.g. "http://localhost:8888"',
];
const media = { baseUrl, apiKey: text, model: text, headers: texts, extra: [isObject, "an object"] as Check };
const FIELDS: { readonly [service in keyof Services]-?: { readonly [field: string]: Check } } = {
  search: { baseUrl, language: text, categories: list, headers: texts },
  images: media,
  videos: { ...media, body: [(value) => value === "form" || value === "json", '"form" or "json"'] },
};

/** What is wrong with the setting. */
export function servicesFault(value: unknown): Fault | undefined {
  if (!isObject(value)) return { path: [], got: value, wanted: 'an object, e.g. { "search": { "baseUrl": "..." } }' };
  for (const [name, service] of Object.entries(value)) {
    const fields = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof Services] : undefined;
    if (!fields) return { path: [name], got: service, wanted: `only ${Object.keys(FIELDS).join(", ")} in "services"` };
    if (!isObject(service)) return { path: [name], got: service, wanted: 'an object, e.g. { "baseUrl": "..." }' };
    if (service.baseUrl === undefined) return { path: [name, "baseUrl"], got: undefined, wanted: baseUrl[1] };
    for (const [field, given] of Object.entries(service)) {
      const [accepts, wanted] = Object.hasOwn(fields, field) ? (fields[field] ?? text) : noSuch(fields);
      // It may be a key, in the wrong place.
      if (!accepts(given)) return { path: [name, field], got: "not that", wanted };
    }
  }
  return undefined;
}

function noSuch(fields: { readonly [field: string]: Check }): Check {
  return [() => false, `only ${Object.keys(fields).join(", ")}`];
}

/** Without what may be a key: for people to look at. */
export function servicesText(services: Services): string {
  const shown = Object.entries(services).map(([name, service]) => {
    const { apiKey, headers, ...rest } = service as MediaService;
    return [name, { ...rest, ...(apiKey && { apiKey: hidden(apiKey) }), ...(headers && { headers: "..." }) }];
  });
  return JSON.stringify(Object.fromEntries(shown));
}

function hidden(key: string): string {
  return /^\$\{[A-Za-z_]\w*\}$/.test(key) ? key : "...";
}

/** The clients, with the variables filled in. Throws UsageError for one that is not set, naming `from`. */
export async function clientsOf(
  services: Services,
  from: string,
  env: { readonly [name: string]: string | undefined },
): Promise<Clients> {
  const { search, images, videos } = filled(services, from, env, "services");
  const [web, mediaTools] = await Promise.all([
    search && import("@shedkit/tools-web"),
    (images ?? videos) && import("@shedkit/tools-media"),
  ]);
  try {
    return {
      search: search && web?.searxng(search),
      images: images && mediaTools?.openAIImages(images),
      videos: videos && mediaTools?.openAIVideos(videos),
    };
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${from}: ${error.message}`, { cause: error });
    throw error;
  }
}

function filled<T>(value: T, from: string, env: { readonly [name: string]: string | undefined }, at: string): T {
  if (typeof value === "string") {
    return value.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
      const found = env[name];
      if (found) return found;
      throw new UsageError(`${from}: ${at} needs the environment variable ${name}, which is not set`);
    }) as T;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item, i) => filled(item, from, env, `${at}[${i}]`)) as T;
  const entries = Object.entries(value).map(([key, item]) => [key, filled(item, from, env, `${at}.${key}`)]);
  return Object.fromEntries(entries) as T;
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
