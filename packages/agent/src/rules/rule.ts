import { AgenticError } from "@shedkit/types";
import { CommandPattern } from "./command-pattern.js";
import type { Doing } from "./doings.js";
import { DomainPattern } from "./domain-pattern.js";
import { PathPattern, type Places } from "./path-pattern.js";
import { type ServerPattern, serverPattern } from "./server-pattern.js";

/** What rules speak of. */
export type Subject = "Bash" | "Read" | "Edit" | "Search" | "MCPTool" | "WebFetch" | "WebSearch";

/** How exactly something must fit: leave is for what is written, a ban also for what comes to the same. */
export type Care = "exact" | "wide";

/** A rule that was read. */
export interface Rule {
  /** As it was written. */
  text: string;
  /** What stands before the bracket: a subject, or else the name of a tool. */
  subject: Subject | undefined;
  name: string;
  /** Absent: whatever the tool is called with. */
  fits?: ((doing: Doing, care: Care) => boolean) | undefined;
}

const SUBJECTS: { readonly [name: string]: Subject } = {
  bash: "Bash",
  read: "Read",
  edit: "Edit",
  write: "Edit",
  grep: "Search",
  glob: "Search",
  mcptool: "MCPTool",
  webfetch: "WebFetch",
  websearch: "WebSearch",
};

/** Throws AgenticError `session` with the reason "wrong rule" that names the rule and what was wanted. */
export function readRule(text: unknown, places: Places): Rule {
  if (typeof text !== "string") throw wrong(text, "a text such as Bash(git status:*)");
  const { name, pattern } = partsOf(text);
  if (name.startsWith("mcp__")) {
    const server = name.slice("mcp__".length);
    if (server === "" || pattern !== undefined) throw wrong(text, "mcp__server or mcp__server__tool, without brackets");
    return { text, name, subject: "MCPTool", fits: fitsServer(serverPattern(server)) };
  }
  const key = name.toLowerCase().replaceAll("_", "");
  const subject = Object.hasOwn(SUBJECTS, key) ? SUBJECTS[key] : undefined;
  if (subject === "Bash" && pattern === "*") return { text, name, subject };
  return { text, name, subject, ...(pattern !== undefined && { fits: fitting(subject, pattern, text, places) }) };
}

function fitting(subject: Subject | undefined, pattern: string, text: string, places: Places): Rule["fits"] {
  switch (subject) {
    case "Bash": {
      const command = CommandPattern.of(pattern);
      if (!command) throw wrong(text, "a command, such as Bash(npm test) or Bash(git status:*)");
      return ({ command: words }, care) => words !== undefined && command.fits(words, care);
    }
    case "Read":
    case "Edit":
    case "Search": {
      const path = PathPattern.of(pattern, places);
      if (typeof path === "string") throw wrong(text, path);
      return ({ path: where }, care) => where !== undefined && path.fits(where, care);
    }
    case "MCPTool":
      return fitsServer(serverPattern(pattern));
    case "WebFetch": {
      const domain = DomainPattern.of(pattern);
      if (!domain)
        throw wrong(text, "a domain, such as WebFetch(domain:example.com) or WebFetch(domain:*.example.com)");
      return ({ host }, care) => host !== undefined && domain.fits(host, care);
    }
    case "WebSearch":
      throw wrong(text, "WebSearch, without brackets");
    case undefined:
      throw wrong(
        text,
        "brackets after Bash, Read, Edit, Write, Grep, Glob, MCPTool or WebFetch alone; other tools by their name",
      );
  }
}

function fitsServer(pattern: ServerPattern): Rule["fits"] {
  return ({ serverTool }) => serverTool !== undefined && pattern(serverTool);
}

function partsOf(text: string): { name: string; pattern?: string } {
  const wanted = "Tool or Tool(pattern), with ( and ) in the pattern as \\( and \\)";
  const [all, name = "", inner] = /^\s*([^\s()]+)\s*(?:\(((?:\\[\s\S]|[^()\\])*)\))?\s*$/.exec(text) ?? [];
  if (all === undefined) throw wrong(text, wanted);
  if (inner === undefined) return { name };
  const pattern = inner.replace(/\\([()\\])/g, "$1").trim();
  if (pattern === "") throw wrong(text, `a pattern in the brackets, or ${name} alone for everything`);
  return { name, pattern };
}

function wrong(rule: unknown, wanted: string): AgenticError {
  const shown = typeof rule === "string" ? rule : JSON.stringify(rule);
  return new AgenticError(
    "session",
    `The permission rule ${JSON.stringify(shown)} cannot be read; wanted: ${wanted}.`,
    {
      reason: "wrong rule",
    },
  );
}
