import type { AgentSessionBuilder } from "@shedkit/agent";
import { settingsOf } from "@shedkit/agent/internals";
import type { ToolShed } from "@shedkit/shed";
import { type DocumentStore, type MemoryStore, SqlDocumentStore } from "@shedkit/store";
import { metadataOf, type ToolKind } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";

/**
 * Where tools find the files that they work on.
 *
 * - `volume`: every worker has the same folder at the same place (a network volume). A session's steps may run anywhere.
 * - `worker`: the files lie on one machine. Its sessions run on the workers that were started with this name, and nowhere
 *   else: the name is part of the service's.
 */
export type Workspace = { type: "volume" } | { type: "worker"; worker: string };

/** An agent that runs on many workers: the same on each of them. */
export interface DurableDefinition<D extends DocumentStore = DocumentStore, M extends MemoryStore = MemoryStore> {
  /** Of the service. Letters, digits, `_` and `-`; begins with a letter. */
  name: string;
  /**
   * Of the code: workers that run at the same time under one name and version must have the same models, tools and system
   * prompt. Give changed code another one, and an address of its own. Default: none.
   */
  version?: string | undefined;
  /** What its sessions are made of, with a store that all workers share and without a session id. */
  agent: AgentSessionBuilder<D, M>;
  /** Needed where tools work on files or start programs. Default: none. */
  workspace?: Workspace | undefined;
  /**
   * After how long without a sign of life a step counts as hung, in milliseconds: longer than any model or tool call may
   * take. Its worker is cut off then, and the step is begun on another. Default: 900,000.
   */
  stepTimeoutMs?: number | undefined;
}

/** What works on the machine it runs on. */
const LOCAL: ReadonlySet<ToolKind> = new Set([
  ...["read", "edit", "write", "delete", "move", "listDir", "search", "lsp", "execute"],
  ...["backgroundTaskAction", "waitTasksAction", "killTaskAction", "monitor"],
]);
/** What needs something that runs in the process. */
const IN_PROCESS: ReadonlySet<ToolKind> = new Set([
  "backgroundTaskAction",
  "waitTasksAction",
  "killTaskAction",
  "monitor",
]);

/** Throws AgenticError `session` (reason "not durable") for what cannot be carried from worker to worker. */
export function checkDefinition({ name, agent, workspace }: DurableDefinition): void {
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) {
    throw notDurable(`the name "${name}" is none: it takes letters, digits, "_" and "-", and begins with a letter.`);
  }
  if (workspace?.type === "worker" && !/^[A-Za-z0-9_-]+$/.test(workspace.worker)) {
    throw notDurable(`the worker's name "${workspace.worker}" is none: it takes letters, digits, "_" and "-".`);
  }
  const settings = settingsOf(agent);
  if (settings.sessionId !== undefined) {
    throw notDurable(
      `its builder is of one session, "${settings.sessionId}". Leave withSessionId(...) out: the client names the sessions.`,
    );
  }
  const store: unknown = settings.docStore;
  if (!(store instanceof SqlDocumentStore)) {
    const what = (store as { constructor: { name: string } }).constructor.name;
    throw notDurable(
      `its log would lie in a ${what}, which other workers do not see or cannot take over. Use withDocStore(new SqlDocumentStore(...)) over a database that all workers reach, such as PostgreSQL.`,
      "store not shared",
    );
  }
  if (settings.shed) checkTools(settings.shed, workspace);
}

function checkTools(shed: ToolShed, workspace: Workspace | undefined): void {
  for (const name of shed.names()) {
    const tool = shed.get(name);
    if (!tool || !("definition" in tool)) continue; // made for a session: checked when it is there
    checkTool(name, metadataOf(tool).kind, workspace);
  }
}

/** Throws where a tool's effects would stay on the machine that happened to run it. */
export function checkTool(name: string, kind: ToolKind, workspace: Workspace | undefined): void {
  if (IN_PROCESS.has(kind) && workspace?.type !== "worker") {
    throw notDurable(
      `the tool "${name}" (kind "${kind}") needs a task that runs in one process. Name the worker: workspace: { type: "worker", worker: "..." }.`,
    );
  }
  if (LOCAL.has(kind) && !workspace) {
    throw notDurable(
      `the tool "${name}" (kind "${kind}") works on the machine that runs it, and the next step may run on another. Say where the files are: workspace: { type: "volume" } where all workers have the same folder, or { type: "worker", worker: "..." }.`,
    );
  }
}

/** The service's name in Restate. */
export function serviceName({ name, workspace }: DurableDefinition): string {
  return workspace?.type === "worker" ? `${name}.${workspace.worker}` : name;
}

function notDurable(why: string, reason = "not durable"): AgenticError {
  return new AgenticError("session", `The agent cannot run on many workers: ${why}`, { reason });
}
