import TurndownService from "turndown";
import { plainPage } from "./plain-page.js";
import { attributeOf } from "./tags.js";

/** How much of a page is looked at, in characters. */
const MAX_HTML = 2_000_000;
const MAX_HEAD = 200_000;

/**
 * The text of a page, as Markdown, and its title. Links are absolute; what is no text, or is not shown to people, is left out.
 * Others get their turn meanwhile. Rejects with the reason of the signal.
 */
export async function markdownOf(
  html: string,
  address: URL,
  signal: AbortSignal,
): Promise<{ title: string | undefined; text: string }> {
  const page = html.slice(0, MAX_HTML);
  const service = converter(baseOf(page, address));
  const breathe = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  };
  const parts: string[] = [];
  for (const part of await plainPage(page, breathe)) {
    await breathe();
    const text = service.turndown(part);
    if (text !== "") parts.push(text);
  }
  const text = parts
    .join("\n\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return { title: titleOf(page), text };
}

/** What stands before a page's own content. */
function headOf(page: string): string {
  const end = page.search(/<(?:body|svg)[\s>]/i);
  return page.slice(0, end < 0 ? MAX_HEAD : Math.min(end, MAX_HEAD));
}

function titleOf(page: string): string | undefined {
  const title = /<title[^<>]{0,1000}>([^<]{0,1000})/i.exec(headOf(page))?.[1] ?? "";
  const plain = new TurndownService();
  plain.escape = (text) => text;
  return plain.turndown(`<p>${title}</p>`).replace(/\s+/g, " ").trim() || undefined;
}

/** What links are relative to. */
function baseOf(page: string, address: URL): URL {
  const attributes = /<base(\s[^<>]{0,3000})>/i.exec(headOf(page))?.[1] ?? "";
  const href = attributeOf(attributes, "href") ?? "";
  const base = URL.canParse(href, address) ? new URL(href, address) : address;
  return base.protocol === "https:" || base.protocol === "http:" ? base : address;
}

function converter(base: URL): TurndownService {
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.addRule("link", {
    filter: "a",
    replacement: (content, node) => {
      const href = absolute((node as unknown as Element).getAttribute("href"), base);
      const text = content.replace(/\s+/g, " ").trim();
      return href === undefined || text === "" ? text : `[${text}](${href})`;
    },
  });
  service.addRule("image", {
    filter: "img",
    replacement: (_, node) => {
      const image = node as unknown as Element;
      const alt = (image.getAttribute("alt") ?? "").replace(/\s+/g, " ").trim();
      const src = absolute(image.getAttribute("src"), base);
      return alt === "" ? "" : src === undefined ? alt : `![${alt}](${src})`;
    },
  });
  service.addRule("cell", {
    filter: ["td", "th"],
    replacement: (content) => ` ${content.replace(/\s+/g, " ").replaceAll("|", "\\|").trim()} |`,
  });
  service.addRule("row", {
    filter: "tr",
    replacement: (content, node) => {
      const row = node as unknown as Element;
      return `|${content}\n${isFirst(row) ? `|${" --- |".repeat(row.children.length)}\n` : ""}`;
    },
  });
  service.addRule("caption", { filter: "caption", replacement: (content) => `${content.trim()}\n\n` });
  service.addRule("rows", { filter: ["thead", "tbody", "tfoot"], replacement: (content) => content });
  return service;
}

/** Of its table: what Markdown takes for its head. */
function isFirst(row: Element): boolean {
  const group = row.parentElement;
  if (group?.firstElementChild !== row) return false;
  return group.nodeName === "TABLE" || !/^T(?:HEAD|BODY|FOOT)$/.test(group.previousElementSibling?.nodeName ?? "");
}

/** A link to follow; undefined for one that leads nowhere, or holds what it leads to. */
function absolute(href: string | null, base: URL): string | undefined {
  if (!href || href.startsWith("#")) return undefined;
  const url = URL.canParse(href, base) ? new URL(href, base) : undefined;
  return url && ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
}
