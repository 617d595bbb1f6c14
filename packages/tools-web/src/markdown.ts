import TurndownService from "turndown";
import { plainPage } from "./plain-page.js";

/** How much of a page is looked at, in characters. */
const MAX_HTML = 2_000_000;

/** The text of a page, as Markdown, and its title. Links are absolute; what is no text is left out. */
export function markdownOf(html: string, base: URL): { title: string | undefined; text: string } {
  const page = html.slice(0, MAX_HTML);
  const title = /<title[^<>]*>([^<]{0,1000})/i.exec(page)?.[1]?.replace(/\s+/g, " ").trim();
  const service = converter(base);
  const markdown = plainPage(page)
    .map((part) => service.turndown(part))
    .filter((part) => part !== "")
    .join("\n\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return { title: title || undefined, text: markdown };
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
      const isHead = row.parentElement?.querySelector("tr") === row && row.querySelector("th") !== null;
      return `|${content}\n${isHead ? `|${" --- |".repeat(row.children.length)}\n` : ""}`;
    },
  });
  return service;
}

/** A link to follow; undefined for one that leads nowhere, or holds what it leads to. */
function absolute(href: string | null, base: URL): string | undefined {
  if (!href || href.startsWith("#")) return undefined;
  const url = URL.canParse(href, base) ? new URL(href, base) : undefined;
  return url && ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
}
