import { type FileSystem, isFsError, joinPath, quote } from "@shedkit/fs";
import {
  asData,
  fileChangesOf,
  fitsModel,
  imageInfo,
  MAX_IMAGE,
  ToolCallResult,
  type ToolContext,
  ToolError,
  toBase64,
} from "@shedkit/tool";
import { NoPage } from "./no-page.js";

/** What a server gave that is no text: a PDF, an image, a video, by its first bytes. */
export interface WebFile {
  url: string;
  mediaType: string;
  bytes: Uint8Array;
}

/** Makes text of a document; undefined where it does not know its kind. Rejects with an Error that a model can read. */
export type DocumentText = (document: WebFile, signal: AbortSignal) => Promise<string | undefined>;

/** What a body is, as its first bytes tell; undefined for text and for what is not passed on. */
export function mediaTypeOf(body: Uint8Array): string | undefined {
  const image = imageInfo(body);
  if (image) return image.mediaType;
  const ascii = (start: number, end: number) => String.fromCharCode(...body.subarray(start, end));
  if (ascii(0, 5) === "%PDF-") return "application/pdf";
  if (ascii(0, 4) === "\x1a\x45\xdf\xa3") return "video/webm";
  if (body[0] === 0 && ascii(4, 8) === "ftyp") return ascii(8, 12) === "qt  " ? "video/quicktime" : "video/mp4";
  return undefined;
}

/** Whether bytes of a kind may be called so: by the kind, another of its family, or nothing that says anything. */
export function isCalledRightly(mediaType: string, mime: string): boolean {
  const family =
    mediaType === "application/pdf" ? /^application\/(?:x-)?pdf$/ : new RegExp(`^${mediaType.split("/")[0]}/`);
  return (
    family.test(mime) ||
    mime === "" ||
    /^application\/(?:octet-stream|x-unknown|x-download)$|^binary\/octet-stream$/.test(mime)
  );
}

/** A small image as it is; undefined for what is none that a model can be given. */
export function imageResult({ url, mediaType, bytes }: WebFile): ToolCallResult | undefined {
  const image = imageInfo(bytes);
  if (!image?.whole || image.width * image.height === 0 || !fitsModel(image, bytes.length)) return undefined;
  const text = `${url}\n\n[An image of ${image.width} x ${image.height} pixels.]`;
  const source = { type: "base64", data: toBase64(bytes) } as const;
  const output = { url, content: "", total: 0, mediaType };
  return new ToolCallResult(
    [
      { type: "text", text },
      { type: "image", source, mediaType },
    ],
    { output },
  );
}

/** Saves what cannot be shown. `why`: what kept it from being. Throws NoPage where there is nowhere to save it, ToolError. */
export async function savedResult(
  file: WebFile,
  { fs, folder, why }: { fs: FileSystem | undefined; folder: string; why: string | undefined },
  ctx: ToolContext,
): Promise<ToolCallResult> {
  const { url, mediaType, bytes } = file;
  const reason = why ?? (mediaType.startsWith("image/") ? TOO_LARGE : "It is no text.");
  const what = `${url} (${mediaType}, ${bytes.length} bytes) cannot be shown. ${reason}`;
  if (!fs) throw new NoPage("no text", what);
  const path = await save(fs, folder, file, ctx);
  const read = ctx.names.toolOf("read");
  const text = `${what}\nIt was saved as ${quote(path)}.${read === undefined ? "" : ` ${read} may read it.`}`;
  return new ToolCallResult([{ type: "text", text }], {
    output: { url, content: "", total: 0, mediaType, saved: path },
  });
}

const TOO_LARGE =
  `Images are shown that are whole PNG, JPEG, GIF or WebP, of at most ${MAX_IMAGE.bytes} bytes, ${MAX_IMAGE.pixels} pixels ` +
  `and ${MAX_IMAGE.side} on a side.`;

/** For `access`: the folder that files are saved in. */
export function absolute(fs: FileSystem, folder: string): string {
  try {
    const path = fs.resolve(folder);
    return path === "." ? fs.root : `${fs.root.replace(/\/$/, "")}/${path}`;
  } catch (error) {
    if (isFsError(error)) return folder; // refused when something is saved
    throw error;
  }
}

const MAX_TRIES = 1000;
const MAX_NAME = 80;

/** Under the next free name. Throws ToolError. */
async function save(fs: FileSystem, folder: string, file: WebFile, ctx: ToolContext): Promise<string> {
  const { signal } = ctx;
  const name = nameOf(file.url);
  try {
    const place = fs.resolve(folder);
    await fs.mkdir(place, { recursive: true, signal });
    for (let i = 1; i <= MAX_TRIES; i++) {
      const path = joinPath(place, `${name}${i === 1 ? "" : `-${i}`}.${ENDINGS[file.mediaType] ?? "bin"}`);
      if (!(await wrote(fs, path, file.bytes, signal))) continue;
      fileChangesOf(ctx.resources).add({ path, change: "created" });
      return path;
    }
  } catch (error) {
    if (!isFsError(error)) throw error;
    const refused = error.details.reason === "outside" || error.details.reason === "permission";
    throw new ToolError(refused ? "permissionDenied" : "execution", "web", error.message, { cause: error });
  }
  throw new ToolError(
    "execution",
    "web",
    `There are ${MAX_TRIES} files like ${quote(name)} in ${quote(folder)} already.`,
  );
}

async function wrote(fs: FileSystem, path: string, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
  try {
    await fs.writeFile(path, bytes, { ifVersion: null, signal });
    return true;
  } catch (error) {
    if (isFsError(error, "exists")) return false;
    throw error;
  }
}

const ENDINGS: { readonly [mediaType: string]: string } = {
  "application/pdf": "pdf",
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/bmp": "bmp",
  "image/tiff": "tiff",
  "image/x-icon": "ico",
  "video/mp4": "mp4",
  "video/quicktime": "mov",
  "video/webm": "webm",
};

/** A plain name out of an address: letters and digits of any script. */
function nameOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  const last = pathname.split("/").findLast((part) => part !== "") ?? hostname;
  const words =
    asData(decoded(last))
      .normalize("NFC")
      .replace(/\.[A-Za-z0-9]{1,5}$/, "")
      .match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  return [...words.join("-")].slice(0, MAX_NAME).join("") || "file";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
