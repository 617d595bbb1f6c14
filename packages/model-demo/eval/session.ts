import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyAgentSession } from "@shedkit/agent";
import { NodeFileSystem } from "@shedkit/fs/node";
import { RouterMix, ToolPreset } from "@shedkit/harness";
import type { ModelProvider } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { demoModelPath, demoModelSettings } from "../src/index.js";

/** Every tool under another name, and a parameter of each: what the model must take from what `shed` tells it. */
type ToolConfig = Parameters<ToolShed["configure"]>[0]["tools"][number];

export const RENAMED: readonly ToolConfig[] = [
  { id: "read", nameOverride: "open_document", paramsNameOverrides: { path: "document" } },
  { id: "search_file", nameOverride: "scan_lines", paramsNameOverrides: { query: "pattern" } },
  { id: "bash", nameOverride: "do_command", paramsNameOverrides: { command: "line" } },
  { id: "list", nameOverride: "show_folder", paramsNameOverrides: { path: "folder" } },
  { id: "write", nameOverride: "store_document", paramsNameOverrides: { content: "body" } },
  { id: "edit", nameOverride: "swap_text", paramsNameOverrides: { old_string: "before", new_string: "after" } },
  { id: "memory", nameOverride: "notebook" },
];

export interface DemoSessionOptions {
  root: string;
  provider: ModelProvider;
  model?: string | undefined;
  systemPrompt?: string | undefined;
  /** Only these tools. Default: all. */
  only?: readonly string[] | undefined;
  /** Other names for tools and parameters. Default: their own. */
  renamed?: readonly ToolConfig[] | undefined;
}

/** A session as a program has one that uses the demonstration model: the real agent with the real tools over a folder. */
export async function demoSession(options: DemoSessionOptions): Promise<AnyAgentSession> {
  const { root, provider, model = demoModelPath, systemPrompt, renamed, only } = options;
  const fs = new NodeFileSystem(root);
  const tools = ToolPreset.files(fs)
    .merge(ToolPreset.searchFiles(fs))
    .merge(ToolPreset.shell({ cwd: root, bash: { enabledBackground: false } }))
    .merge(ToolPreset.sessionMemory());
  const offered = [...tools].filter(({ name }) => only?.includes(name) ?? true);
  const shed = new ToolShed().tools(offered);
  let builder = new RouterMix()
    .primary(withoutClose(provider), model)
    .build()
    .intoAgentBuilder()
    .withToolshed(renamed ? shed.configure({ tools: renamed }) : shed)
    .withPermissions({ decide: async () => "allow" })
    .withConfig(demoModelSettings.config)
    .withContextConfig(demoModelSettings.context)
    .withMemoryConfig(demoModelSettings.memory)
    .withLoopDetection(demoModelSettings.loopDetection);
  if (systemPrompt !== undefined) builder = builder.withSystemPrompt(systemPrompt);
  return builder.build();
}

/** A session that ends closes what its preset loaded; the model is to serve many. */
function withoutClose(provider: ModelProvider): ModelProvider {
  return {
    id: provider.id,
    serves: provider.serves.bind(provider),
    stream: provider.stream.bind(provider),
    ...(provider.describe && { describe: provider.describe.bind(provider) }),
    ...(provider.countTokens && { countTokens: provider.countTokens.bind(provider) }),
  };
}

export function writeFiles(root: string, files: { readonly [path: string]: string }): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
}
