import { readdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { type ContentPart, type MessageLike, Messages } from "@shedkit/types";
import { UsageError } from "./exit.js";
import type { ModelChoice } from "./model-choice.js";

/** Larger files are for the `read` tool, which takes parts. */
const MAX_BYTES = 100_000;
const REFERENCE = /(?<=^|\s)@("[^"\n]+"|[^\s"]+)/g;

/** What a model may look at, by the end of its name. */
const IMAGES: { readonly [extension: string]: string } = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const MAX_IMAGE_BYTES = 5_000_000;

/**
 * The message with the files that it refers to (`@notes.txt`, `@"two words.txt"`, `@plan.png`) behind it. What is no
 * file of the folder stays as it is. Where the model `attaches` none, it gets the names alone and reads them itself.
 * Throws UsageError for a file that is too large, or neither text nor image.
 */
export async function withReferencedFiles(
  message: string,
  root: string,
  { attaches = true }: Pick<ModelChoice, "attaches"> = {},
): Promise<MessageLike> {
  if (!attaches) return withNames(message, root);
  const names = new Set([...message.matchAll(REFERENCE)].map(([, name = ""]) => unquoted(name)));
  const texts = [message];
  const images: ContentPart[] = [];
  for (const name of names) {
    const file = await fileInside(name, root);
    if (file === undefined) continue;
    const mediaType = IMAGES[path.extname(name).toLowerCase()];
    const bytes = await bytesOf(name, file, mediaType === undefined ? MAX_BYTES : MAX_IMAGE_BYTES);
    if (mediaType === undefined) texts.push(`The file ${name}:\n${textOf(name, bytes)}`);
    else images.push({ type: "image", source: { type: "base64", data: bytes.toString("base64") }, mediaType, name });
  }
  const text = texts.join("\n\n");
  if (images.length === 0) return text;
  return { ...Messages.user(text), content: [{ type: "text", text }, ...images] };
}

async function withNames(message: string, root: string): Promise<string> {
  const files = new Set<string>();
  for (const [, name = ""] of message.matchAll(REFERENCE)) if (await fileInside(unquoted(name), root)) files.add(name);
  return message.replace(REFERENCE, (reference, name: string) => (files.has(name) ? name : reference));
}

/** What the last word of a line may become, where it is a reference; and that word. */
export async function completeReference(line: string, root: string): Promise<[string[], string]> {
  const word = /(?:^|\s)(@[^\s"]*)$/.exec(line)?.[1];
  if (word === undefined) return [[], line];
  const typed = word.slice(1);
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const inside = await insideRoot(folder || ".", root);
  const entries = inside === undefined ? [] : await readdir(inside, { withFileTypes: true }).catch(() => []);
  const found = entries
    .filter((entry) => !entry.name.includes(" ") && `${folder}${entry.name}`.startsWith(typed))
    .map((entry) => `@${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`);
  return [found.sort(), word];
}

async function fileInside(name: string, root: string): Promise<{ path: string; size: number } | undefined> {
  const file = await insideRoot(name, root);
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
  return file !== undefined && found?.isFile() ? { path: file, size: found.size } : undefined;
}

async function bytesOf(name: string, file: { path: string; size: number }, most: number): Promise<Buffer> {
  if (file.size <= most) return readFile(file.path);
  throw new UsageError(`@${name} has ${file.size} bytes, at most ${most} go along; ask about it without the @`);
}

function textOf(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`@${name} is neither UTF-8 text nor a png, jpeg, gif or webp image; only these go along`);
  }
}

/** Where a name leads, links followed; undefined outside of the folder, or nowhere. */
async function insideRoot(name: string, root: string): Promise<string | undefined> {
  const [file, top] = await Promise.all([
    realpath(path.resolve(root, name)).catch(() => undefined),
    realpath(root).catch(() => root),
  ]);
  if (file === undefined) return undefined;
  return file === top || file.startsWith(top.endsWith(path.sep) ? top : top + path.sep) ? file : undefined;
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1) : name.replace(/[,;:!?.)]+$/, "");
}
