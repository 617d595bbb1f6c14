import { stat } from "node:fs/promises";
import path from "node:path";
import type { AnyAgentSession } from "@shedkit/agent";
import { UsageError } from "./exit.js";
import type { ModelChoice } from "./model-choice.js";
import { type Gate, guarded } from "./permission.js";

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

export interface SessionOptions {
  choice: ModelChoice;
  root: string;
  /** Decides about calls that change something; absent: there are no tools that do. */
  gate: Gate | undefined;
}

/** Tools that change nothing. */
const READ_ONLY: ReadonlySet<string> = new Set(["read", "list"]);

/** A session of the chosen model, with the file tools over `root`. */
export async function openSession({ choice, root, gate }: SessionOptions): Promise<AnyAgentSession> {
  const [{ ToolPreset }, { ToolShed }, { NodeFileSystem }] = await Promise.all([
    import("@shedkit/harness"),
    import("@shedkit/shed"),
    import("@shedkit/fs/node"),
  ]);
  const files = ToolPreset.files(new NodeFileSystem(root), choice.files);
  const tools = gate === undefined ? [...files].filter(({ name }) => READ_ONLY.has(name)) : guarded(files, gate);
  const preset = await choice.preset();
  const builder = preset
    .intoAgentBuilder()
    .withToolshed(new ToolShed().tools(tools))
    .withConfig({ modelParams: choice.params });
  return choice.systemPrompt === "" ? builder.build() : builder.withSystemPrompt(choice.systemPrompt).build();
}
