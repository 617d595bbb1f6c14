/** What a text that is a page of HTML is called; undefined for any other text. */
export function htmlPage(text: string): string | undefined {
  if (!/^\s*<(!doctype|html|head)/i.test(text)) return undefined;
  const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  return title ? `a page of HTML, "${title}"` : "a page of HTML";
}
