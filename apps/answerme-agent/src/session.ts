import { stat } from "node:fs/promises";
import path from "node:path";
import type { AnyAgentSession, PermissionPolicy } from "@shedkit/agent";
import type { DocumentStore, MemoryStore } from "@shedkit/store";
import { AgenticError, type SessionId } from "@shedkit/types";
import { UsageError } from "./exit.js";
import { projectInstructions } from "./instructions.js";
import type { ModelChoice } from "./model-choice.js";
import { clientsOf } from "./services.js";
import type { Settings, Sourced } from "./settings.js";

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

/** What decides about the tools of a session. */
export interface SessionTools {
  choice: ModelChoice;
  /** Leaves out the tools that change something. */
  readOnly: boolean;
  /** Leaves out the tools that ask a person: nobody is there. Default: false. */
  unattended?: boolean | undefined;
  /** Whether something may go on beside the calls that started it. Default: true. */
  background?: boolean | undefined;
  /** Default: all tools, as they are. */
  settings?: Pick<Sourced<Settings>, "tools" | "toolSet" | "services"> | undefined;
}

export interface SessionOptions extends SessionTools {
  root: string;
  /** Where a person's own skills and notes are. Default: nowhere. */
  ownFolder?: string | undefined;
  policy: PermissionPolicy;
  /** Where the session is kept, and the id of one to go on with. Default: in memory, a new one. */
  place?: SessionPlace | undefined;
}

/** A session of the chosen model, with the tools over `root`. Throws UsageError where they cannot be as configured. */
export async function openSession(options: SessionOptions): Promise<AnyAgentSession> {
  try {
    return await opened(options);
  } catch (error) {
    const from = options.settings?.toolSet.from;
    if (from === undefined || !AgenticError.is(error, "toolShed")) throw error;
    throw new UsageError(`${from}: ${error.message}`, { cause: error });
  }
}

async function opened(options: SessionOptions): Promise<AnyAgentSession> {
  const builder = await agentOf(options);
  if (options.place === undefined) return builder.build();
  const { docStore, memoryStore, sessionId } = options.place;
  const stored = builder.withDocStore(docStore);
  const kept = memoryStore === undefined ? stored : stored.withMemoryStore(memoryStore);
  return sessionId === undefined ? kept.build() : kept.withSessionId(sessionId).build();
}

/** What sessions of the chosen model with the tools over `root` are made of. */
export async function agentOf(options: Omit<SessionOptions, "place">) {
  const { choice, root, ownFolder, policy } = options;
  const [{ shedOf }, { ownFolders }, { NodeFileSystem }, system] = await Promise.all([
    import("./tools.js"),
    import("./own-folders.js"),
    import("@shedkit/fs/node"),
    systemPrompt(choice, root),
  ]);
  const own = await ownFolders(root, ownFolder);
  const { value, from } = options.settings?.services ?? { value: {}, from: "default" };
  const clients = await clientsOf(value, from, process.env);
  const preset = await choice.preset();
  let builder = preset
    .intoAgentBuilder()
    .withToolshed(shedOf({ fs: new NodeFileSystem(root), root, own, clients }, options))
    .withPermissions(policy)
    .withConfig(choice.config);
  if (system !== undefined) builder = builder.withSystemPrompt(system);
  if (choice.context !== undefined) builder = builder.withContextConfig(choice.context);
  if (choice.memory !== undefined) builder = builder.withMemoryConfig(choice.memory);
  if (choice.loopDetection !== undefined) builder = builder.withLoopDetection(choice.loopDetection);
  return builder;
}

/** What the model is told at first: what it is for, and what the project says to every agent. */
async function systemPrompt({ systemPrompt: text }: ModelChoice, root: string): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const project = await projectInstructions(root);
  return project === undefined ? text : `${text}\n\nThe project's AGENTS.md says:\n${project}`;
}
