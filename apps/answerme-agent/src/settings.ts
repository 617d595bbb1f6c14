import type { ToolSetConfig } from "@shedkit/toolset";
import { type Services, servicesFault } from "./services.js";

/** What can be set, other than by asking. */
export interface Settings {
  /** A Hugging Face GGUF repo or a path; null: the demonstration model. */
  model: string | null;
  /** Whether calls that change something may run: after asking, without, or never. */
  permission: "ask" | "allow" | "readOnly";
  /** Rules for single tools, commands, files and hosts. */
  permissions: PermissionLists;
  /** How many rounds of tool calls a question may take; null: the agent's own limit. */
  maxSteps: number | null;
  /** Whether sessions are kept, to be gone on with later. */
  keepSessions: boolean;
  /** Groups of tools that a session is to do without. */
  tools: ToolGroups;
  /** Which tools a session has and how it wants them: names, descriptions, settings; null: as they are. */
  toolSet: ToolSetConfig | null;
  /** What searches the web and makes images and videos: tools are there for those that are named. */
  services: Services;
  mcpServers: readonly McpEntry[];
}

/** Rules such as `Bash(git status:*)`: what runs without asking, what is asked about whatever else says, what never runs. */
export interface PermissionLists {
  readonly allow?: readonly string[] | undefined;
  readonly ask?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** Tools that belong together, and are switched off together. */
export const TOOL_GROUPS = [
  "files",
  "changes",
  "shell",
  "search",
  "memory",
  "todo",
  "web",
  "media",
  "questions",
  "plan",
  "agents",
  "background",
  "skills",
  "notes",
] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];
export type ToolGroups = { readonly [group in ToolGroup]?: boolean | undefined };

/** An MCP server as a file describes it; whether that is right is seen when it is to be used. */
export interface McpEntry {
  name: string;
  config: unknown;
  /** The file and line. */
  from: string;
  /** It stands in the file of the folder that is asked about, which may be anybody's. */
  inProject: boolean;
}

/** A setting and where it came from, for people: `--model`, `ANSWERME_MODEL`, `answerme.json:2`, `default`. */
export type Sourced<T> = { readonly [K in keyof T]: { readonly value: T[K]; readonly from: string } };

/** What is wrong with a value, or with a part of it. */
interface Fault {
  /** From the setting to the part. */
  path: readonly string[];
  got: unknown;
  /** What is accepted, as it stands in an error. */
  wanted: string;
}

export interface Setting {
  /** Absent: a file alone can set it. */
  readonly env?: string | undefined;
  fault(value: unknown): Fault | undefined | Promise<Fault | undefined>;
  /** From an environment variable. */
  parse?(text: string): unknown;
}

const PERMISSIONS = ["ask", "allow", "readOnly"] as const;

export const SETTINGS: { readonly [name in keyof Settings]: Setting } = {
  model: {
    env: "ANSWERME_MODEL",
    fault: plain(
      (value) => value === null || (typeof value === "string" && value.trim() !== ""),
      "a Hugging Face GGUF repo (owner/repo, owner/repo:Q4_K_M), the path of a .gguf file, openai:MODEL, " +
        "anthropic:MODEL, or null",
    ),
  },
  permission: {
    env: "ANSWERME_PERMISSION",
    fault: plain((value) => PERMISSIONS.some((permission) => permission === value), '"ask", "allow" or "readOnly"'),
  },
  permissions: { fault: rulesFault },
  maxSteps: {
    env: "ANSWERME_MAX_STEPS",
    fault: plain(
      (value) => value === null || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1000),
      "a whole number from 1 to 1000, or null",
    ),
    parse: Number,
  },
  keepSessions: {
    env: "ANSWERME_KEEP_SESSIONS",
    fault: plain((value) => typeof value === "boolean", "true or false"),
    parse: (text) => ({ true: true, "1": true, false: false, "0": false })[text],
  },
  tools: { fault: toolsFault },
  toolSet: { fault: toolSetFault },
  services: { fault: servicesFault },
  mcpServers: {
    fault: plain(isObject, 'servers by name, e.g. { "clock": { "command": "npx", "args": ["-y", "a-clock"] } }'),
  },
};

function plain(accepts: (value: unknown) => boolean, wanted: string): Setting["fault"] {
  return (value) => (accepts(value) ? undefined : { path: [], got: value, wanted });
}

function toolsFault(value: unknown): Fault | undefined {
  if (!isObject(value)) return { path: [], got: value, wanted: 'an object, e.g. { "shell": false }' };
  for (const [name, part] of Object.entries(value)) {
    const path = [name];
    if (!TOOL_GROUPS.some((group) => group === name)) {
      return { path, got: part, wanted: `only ${TOOL_GROUPS.join(", ")} in "tools"` };
    }
    if (typeof part !== "boolean") return { path, got: part, wanted: "true or false" };
  }
  return undefined;
}

async function rulesFault(value: unknown): Promise<Fault | undefined> {
  if (!isObject(value)) return { path: [], got: value, wanted: 'an object, e.g. { "allow": ["Bash(npm test)"] }' };
  const { permissionRules } = await import("@shedkit/agent");
  for (const [name, rules] of Object.entries(value)) {
    const path = [name];
    if (!/^(?:allow|ask|deny)$/.test(name))
      return { path, got: rules, wanted: 'only allow, ask, deny in "permissions"' };
    if (!Array.isArray(rules)) return { path, got: rules, wanted: 'a list of rules, e.g. ["Bash(npm test)"]' };
    for (const rule of rules) {
      try {
        permissionRules({ root: "/", home: "/", allow: [rule] });
      } catch (error) {
        const [, wanted = String(error)] = /wanted: (.*)\.$/.exec(String(error)) ?? [];
        return { path, got: rule, wanted };
      }
    }
  }
  return undefined;
}

async function toolSetFault(value: unknown): Promise<Fault | undefined> {
  if (value === null) return undefined;
  const { configProblems } = await import("@shedkit/toolset");
  const [problem] = configProblems(value);
  if (problem === undefined) return undefined;
  const path = (problem.fieldPath ?? "").split(".").filter((part) => part !== "");
  return { path, got: problem.badValue ?? null, wanted: problem.expected ?? problem.message };
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
