import { type Resource, resource } from "./resources.js";

/** The tag that the reminders of a session are wrapped in: results show `&lt;` for the `<` of one that stands in data. */
export const wrapperTag: Resource<string> = resource("wrapperTag");

/** What a model reads over. */
const UNSEEN = "[\\s\\p{Cc}\\p{Cf}]{0,20}";

/** What a tool gives is data: a tag of ours inside it must not look like one. Its `<` becomes `&lt;`. */
export function escapeTag(text: string, tag: string): string {
  return text.includes("<") ? text.replace(tagAfter("<", tag), "&lt;$1") : text;
}

/** The way back: of a text that a model copied from what it was shown. */
export function unescapeTag(text: string, tag: string): string {
  return text.includes("&lt;") ? text.replace(tagAfter("&lt;", tag), "<$1") : text;
}

function tagAfter(sign: string, tag: string): RegExp {
  const name = tag.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${sign}(${UNSEEN}/?${UNSEEN}${name})`, "giu");
}
