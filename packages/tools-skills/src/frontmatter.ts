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
    forModel: values["disable-model-invocation"] !== true,
    forUser: values["user-invocable"] !== false,
  };
}

type Values = { readonly [key: string]: unknown };

function valuesOf(head: string): Values {
  for (const source of [head, quoted(head)]) {
    try {
      const values: unknown = parse(source, { maxAliasCount: 0, logLevel: "error" });
      if (typeof values === "object" && values !== null && !Array.isArray(values)) return values as Values;
    } catch {
      // The next reading is more lenient.
    }
  }
  throw new BadSkill("its frontmatter is no YAML with name and description");
}

/** People write `description: Use it when: ...`, which is no YAML: such values are taken as they stand. */
function quoted(head: string): string {
  return head.replace(/^([\w-]+):[ \t]+(?![|>"'[{])(.*[^\s].*)$/gm, (_, key: string, value: string) => {
    return /^(?:true|false)\s*$/.test(value) ? `${key}: ${value}` : `${key}: ${JSON.stringify(value.trim())}`;
  });
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
