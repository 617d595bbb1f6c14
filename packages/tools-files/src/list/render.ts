import { count, plural } from "../text/format.js";
import type { Entry } from "./walk.js";

export interface Rendered {
  text: string;
  /** How many entries of the folder itself fitted. */
  shown: number;
}

/**
 * An indented tree that keeps to `maxChars`, roughly: level by level, every folder whose entries still fit is opened;
 * one that is too big becomes a line that sums it up, and its smaller neighbours are still opened.
 */
export function renderTree(root: Entry, maxChars: number): Rendered {
  const header = `${root.path === "." ? "." : root.path}/`;
  let left = maxChars - header.length;
  const all = root.entries ?? [];
  const open = new Set<Entry>([root]);
  let first = all;
  const size = linesSize(all);
  if (size <= left) left -= size;
  else {
    first = fitting(all, left);
    left = 0;
  }
  for (let level = first; level.length > 0; ) {
    const next: Entry[] = [];
    for (const entry of level) {
      if (entry.entries === undefined || entry.entries.length === 0) continue;
      const needed = linesSize(entry.entries);
      if (needed > left) continue;
      left -= needed;
      open.add(entry);
      next.push(...entry.entries);
    }
    level = next;
  }
  const lines = [header];
  const show = (entries: readonly Entry[]) => {
    for (const entry of entries) {
      lines.push(`${"  ".repeat(entry.depth)}${label(entry)}${open.has(entry) ? "" : summary(entry)}`);
      if (open.has(entry)) show(entry.entries ?? []);
    }
  };
  show(first);
  return { text: lines.join("\n"), shown: first.length };
}

function linesSize(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + lineSize(entry), 0);
}

function lineSize(entry: Entry): number {
  return 2 * entry.depth + shownName(entry.name).length + 2;
}

function fitting(entries: readonly Entry[], chars: number): Entry[] {
  let left = chars;
  const end = entries.findIndex((entry) => {
    left -= lineSize(entry);
    return left < 0;
  });
  return entries.slice(0, Math.max(end, 1));
}

function label(entry: Entry): string {
  const name = shownName(entry.name);
  if (entry.type === "directory") return `${name}/`;
  return entry.type === "symlink" ? `${name} (link)` : name;
}

/** A name with a line end or a character that is not seen in it must not pass for something else. */
function shownName(name: string): string {
  if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return name;
  return JSON.stringify(name).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** What a folder that is not opened has in it. */
function summary(entry: Entry): string {
  if (entry.type !== "directory") return "";
  if (entry.skipped === "denied") return " (cannot be read)";
  if (entry.skipped === "dependencies") return " (dependencies, not looked into)";
  if (entry.entries === undefined) return entry.skipped === "cut" ? " (not looked into)" : "";
  const extensions = new Map<string, number>();
  const files = tally(entry, extensions);
  if (files === 0) return entry.entries.length === 0 ? " (empty)" : ` (${plural(entry.entries.length, "folder")})`;
  const top = [...extensions].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const named = top.slice(0, 3).map(([extension, n]) => `${count(n)} ${extension}`);
  const kinds = named.length === 0 ? "" : `: ${named.join(", ")}${top.length > 3 ? ", ..." : ""}`;
  return ` (${plural(files, "file")}${kinds})`;
}

function tally(entry: Entry, extensions: Map<string, number>): number {
  let files = 0;
  for (const child of entry.entries ?? []) {
    if (child.type === "directory") {
      files += tally(child, extensions);
      continue;
    }
    files++;
    const dot = child.name.lastIndexOf(".");
    if (dot <= 0) continue;
    const extension = child.name.slice(dot);
    extensions.set(extension, (extensions.get(extension) ?? 0) + 1);
  }
  return files;
}
