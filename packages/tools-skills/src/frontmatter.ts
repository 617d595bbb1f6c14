import { parse } from "yaml";

/** What a SKILL.md says of itself. */
export interface Frontmatter {
  name: string;
  description: string;
  /** Globs, as in a .gitignore: the skill is offered once a file that fits was worked on. */
  paths: readonly string[];
  /** The tools that it is written for; a note to the model. */
  allowedTools: readonly string[];
  /** Whether the model may find it. */
  forModel: boolean;
  /** Whether programs are to offer it to people, who call it by its name. */
  forUser: boolean;
}

/** The head of a skill that cannot be used: `message` says why. */
export class BadSkill extends Error {}

export const MAX_FRONTMATTER = 4096; // bytes
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const MOST_ITEMS = 50;

/** Splits a file into what stands between its `---` lines and what follows. Undefined where it does not begin so. */
export function split(text: string): { head: string; body: string } | undefined {
  const found = /^\ufeff?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!found) return undefined;
  return { head: found[1] ?? "", body: text.slice(found[0].length) };
}

/** Reads the head of a skill. Throws BadSkill. */
export function readFrontmatter(head: string): Frontmatter {
  const bytes = new TextEncoder().encode(head).length;
  if (bytes > MAX_FRONTMATTER)
    throw new BadSkill(`its frontmatter has ${bytes} bytes; ${MAX_FRONTMATTER} are the most`);
  const values = valuesOf(head);
  const name = text(values, "name", MAX_NAME);
  if (!/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/i.test(name)) {
    throw new BadSkill(`its name ${JSON.stringify(name)} is not of letters, digits and hyphens`);
  }
  return {
    name,
    description: text(values, "description", MAX_DESCRIPTION).replace(/\s+/g, " "),
    paths: list(values, "paths"),
    allowedTools: list(values, "allowed-tools"),
    forModel: flag(values["disable-model-invocation"]) !== true,
    forUser: flag(values["user-invocable"]) !== false,
  };
}

type Values = { readonly [key: string]: unknown };

function valuesOf(head: string): Values {
  const values = parsed(head) ?? entryByEntry(head);
  if (values === undefined) throw new BadSkill("its frontmatter is no YAML with name and description");
  return values;
}

function parsed(source: string): Values | undefined {
  try {
    const values: unknown = parse(source, { maxAliasCount: 0, logLevel: "error" });
    const isMap = typeof values === "object" && values !== null && !Array.isArray(values);
    return isMap ? (values as Values) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * People write `description: Use it when: ...`, or begin with a quote or a bracket that is none, which is no YAML: an entry
 * that cannot be read is taken as it stands, and keeps no other from being read. Of a key that is there twice the first counts.
 */
function entryByEntry(head: string): Values | undefined {
  const values = new Map<string, unknown>();
  // Each begins at the margin; what is indented below it is its own.
  for (const entry of head.split(/\r?\n(?=[^\s#-])/)) {
    const [, key, value] = /^([\w-]+)[ \t]*:(?:[ \t]+|(?=[\r\n]|$))([\s\S]*)$/.exec(entry) ?? [];
    if (key === undefined || value === undefined || values.has(key)) continue;
    const own = parsed(entry)?.[key];
    const plain = value
      .replace(/\s+/g, " ")
      .trim()
      .replace(/^(["'])(.+)\1$/, "$2");
    if (own !== undefined || plain !== "") values.set(key, own ?? plain);
  }
  return values.size === 0 ? undefined : Object.fromEntries(values);
}

/** Also as people write it, who know another YAML. */
function flag(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(word)) return true;
  return ["false", "no", "off", "0"].includes(word) ? false : undefined;
}

function text(values: Values, key: string, most: number): string {
  const value = values[key];
  const found = typeof value === "number" ? String(value) : value;
  if (typeof found !== "string" || found.trim() === "") throw new BadSkill(`its frontmatter has no ${key}`);
  if (found.trim().length > most) {
    throw new BadSkill(`its ${key} has ${found.trim().length} characters; ${most} are the most`);
  }
  return found.trim();
}

/** A list, or one text with commas. */
function list(values: Values, key: string): string[] {
  const value = values[key];
  const items: unknown[] = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [];
  return items
    .filter((item) => typeof item === "string")
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .slice(0, MOST_ITEMS);
}
