import { stat } from "node:fs/promises";
import path from "node:path";
import type { AnyAgentSession, PermissionPolicy } from "@shedkit/agent";
import type { DocumentStore, MemoryStore } from "@shedkit/store";
import type { SessionId } from "@shedkit/types";
import { UsageError } from "./exit.js";
import { projectInstructions } from "./instructions.js";
import type { ModelChoice } from "./model-choice.js";

/** The folder that the tools may see, as an absolute path. Throws UsageError where it is none. */
export async function rootFolder(named: string | undefined): Promise<string> {
  const root = path.resolve(named ?? ".");
  const found = await stat(root).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    const why = found.code === "ENOENT" ? "there is no such folder" : `it cannot be opened (${found.code})`;
    throw new UsageError(`--root ${named ?? root}: ${why}`);
  }
  if (!found.isDirectory()) throw new UsageError(`--root ${named ?? root}: this is a file; name a folder`);
  return root;
}

export interface SessionPlace {
  docStore: DocumentStore;
  /** Default: in memory. */
  memoryStore?: MemoryStore | undefined;
  sessionId?: SessionId | undefined;
}

export interface SessionOptions {
  choice: ModelChoice;
  root: string;
  policy: PermissionPolicy;
  /** Leaves out the tools that change something. */
  readOnly: boolean;
  /** Where the session is kept, and the id of one to go on with. Default: in memory, a new one. */
  place?: SessionPlace | undefined;
}

/** Tools that change nothing. */
const READ_ONLY: ReadonlySet<string> = new Set(["read", "list"]);

/** A session of the chosen model, with the file tools over `root`. */
export async function openSession(options: SessionOptions): Promise<AnyAgentSession> {
  const { choice, root, policy, readOnly, place } = options;
  const [{ ToolPreset }, { ToolShed }, { NodeFileSystem }, system] = await Promise.all([
    import("@shedkit/harness"),
    import("@shedkit/shed"),
    import("@shedkit/fs/node"),
    systemPrompt(choice, root),
  ]);
  const files = ToolPreset.files(new NodeFileSystem(root), choice.files);
  const tools = [...files].filter(({ name }) => !choice.without?.includes(name) && (!readOnly || READ_ONLY.has(name)));
  const preset = await choice.preset();
  let builder = preset
    .intoAgentBuilder()
    .withToolshed(new ToolShed().tools(tools))
    .withPermissions(policy)
    .withConfig(choice.config);
  if (system !== undefined) builder = builder.withSystemPrompt(system);
  if (choice.context !== undefined) builder = builder.withContextConfig(choice.context);
  if (choice.memory !== undefined) builder = builder.withMemoryConfig(choice.memory);
  if (choice.loopDetection !== undefined) builder = builder.withLoopDetection(choice.loopDetection);
  if (place === undefined) return builder.build();
  const { docStore, memoryStore, sessionId } = place;
  const stored = builder.withDocStore(docStore);
  const kept = memoryStore === undefined ? stored : stored.withMemoryStore(memoryStore);
  return sessionId === undefined ? kept.build() : kept.withSessionId(sessionId).build();
}

/** What the model is told at first: what it is for, and what the project says to every agent. */
async function systemPrompt({ systemPrompt: text }: ModelChoice, root: string): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const project = await projectInstructions(root);
  return project === undefined ? text : `${text}\n\nThe project's AGENTS.md says:\n${project}`;
}
