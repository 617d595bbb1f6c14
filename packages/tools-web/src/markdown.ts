import TurndownService from "turndown";

/** How much of a page is looked at, in characters: reading it takes a while, and nothing else runs meanwhile. */
const MAX_HTML = 2_000_000;

/** What a person does not read. */
const LEFT_OUT = "script style noscript template iframe object embed svg canvas nav footer form button select".split(
  " ",
);

/** Deeper than pages are; the converter takes longer with each level. */
const MAX_DEPTH = 200;

/** What need not be closed. */
const OPEN_ENDED = new Set(
  (
    "area base br col colgroup dd dt embed hr img input li link meta option p param rp rt source tbody td tfoot th thead tr " +
    "track wbr"
  ).split(" "),
);

/** The text of a page, as Markdown, and its title. Links are absolute; what is no text is left out. */
export function markdownOf(html: string, base: URL): { title: string | undefined; text: string } {
  const page = html.slice(0, MAX_HTML).replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  const title = /<title[^<>]*>([^<]{0,1000})/i.exec(page)?.[1]?.replace(/\s+/g, " ").trim();
  const { depth, text } = outline(page);
  if (depth > MAX_DEPTH) return { title: title || undefined, text };
  const markdown = converter(base)
    .turndown(page)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return { title: title || undefined, text: markdown };
}

/** How deep elements stand in each other, at most, and the bare text. In time proportional to the page. */
function outline(page: string): { depth: number; text: string } {
  const texts: string[] = [];
  let [depth, deepest, at] = [0, 0, 0];
  let hidden: string | undefined;
  for (const { 0: tag, 1: slash, 2: name = "", index } of page.matchAll(/<(\/?)([a-z][a-z0-9]*)[^<>]*>/gi)) {
    if (!hidden) texts.push(page.slice(at, index));
    at = index + tag.length;
    const element = name.toLowerCase();
    if (hidden) {
      if (slash && element === hidden) hidden = undefined;
    } else if (!slash && (element === "script" || element === "style")) hidden = element;
    else if (!OPEN_ENDED.has(element)) {
      depth = Math.max(0, depth + (slash ? -1 : 1));
      deepest = Math.max(deepest, depth);
    }
  }
  if (!hidden) texts.push(page.slice(at));
  return { depth: deepest, text: texts.join(" ").replace(/\s+/g, " ").trim() };
}

function converter(base: URL): TurndownService {
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.remove((node) => LEFT_OUT.includes(node.nodeName.toLowerCase()) || node.nodeName === "TITLE");
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
