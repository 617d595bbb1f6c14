import type { Message } from "@shedkit/types";
import { type Medium, mediaOf } from "../transcript/without-media.js";
import { refusalText } from "./refused-parameter.js";

/** What servers say of an image or a file that they take in general, and could not make use of. */
const UNREADABLE: readonly RegExp[] = [
  /(could not|cannot|can't|unable to|failed to) (be )?(process|read|load|decode|identify|open|parse|download|fetch)\w*\b[^.]*\b(image|file|audio|document|pdf)/i,
  /\b(image|file|audio|document|pdf)\b[^.]*\b(could not|cannot|can't|failed to) be (process|read|load|decod|pars|download)/i,
  /uploaded an unsupported image|represent a valid image|invalid image data|invalid mime type/i,
  /image (exceeds|dimensions?|is too (large|small|big))|image was specified using|do(es)? not match the (provided )?media type/i,
  /\bpdf\b[^.]*\b(not valid|password|encrypted|invalid)|(exceed|more than)[^.]*\bpdf pages\b/i,
  /(error|timeout|timed out) (while|when) downloading|expected file type to be a supported format/i,
  /\b(image|document)\.source\.|invalid_image|image_parse_error|image: unknown format/i,
];

/**
 * The name of the image or file that a server says, with 400 or 422, that it cannot read: the one at the place it names,
 * else the newest of those sent. Undefined where it says nothing of the kind. Without that one left out, every later
 * request of the session would be refused too.
 */
export function unreadableMedium(
  error: unknown,
  body: object,
  messages: readonly Message[],
  known: ReadonlySet<string>,
): string | undefined {
  const said = refusalText(error);
  const { param, code } = error as { param?: unknown; code?: unknown };
  const text = [said, param, code].filter((part) => typeof part === "string").join(" ");
  if (said === undefined || !UNREADABLE.some((words) => words.test(text))) return undefined;
  const sent = messages
    .flatMap(mediaOf)
    .filter(({ name, part }) => part.source.type !== "blob" && !known.has(name))
    .reverse();
  const there = placeIn(body, text);
  return (sent.find((medium) => there?.includes(bytesOf(medium))) ?? sent[0])?.name;
}

/** What stands at the place of a body that a text names, as in `messages.3.content.1.image.source` or `input[3]`. */
function placeIn(body: object, text: string): string | undefined {
  const path = /\b(?:messages|input)[.[]+\d+[\w.[\]]*/.exec(text)?.[0];
  if (path === undefined) return undefined;
  let at: unknown = body;
  for (const key of path.split(/[.[\]]+/)) {
    // Some name the type of a block in the path of what is in it.
    const next = typeof at === "object" && at !== null ? (at as { [key: string]: unknown })[key] : undefined;
    if (typeof next === "object" && next !== null) at = next;
  }
  return JSON.stringify(at);
}

function bytesOf({ part: { source } }: Medium): string {
  return source.type === "base64" ? source.data : source.type === "url" ? source.url : source.ref;
}
