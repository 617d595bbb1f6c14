import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import { given, type Settings } from "./given.js";
import { lazyReminder } from "./lazy-reminder.js";
import { optionalPeer } from "./optional-peer.js";

/** A folder with skills, as `@shedkit/tools-skills` describes it. */
export interface SkillFolder {
  name: string;
  fs: FileSystem;
  folder: string;
  /** Also the folders of this name beside files that are worked on, and above them. Default: false. */
  nested?: boolean | undefined;
}

/** Settings of `skill`, likewise. What is absent is its default. */
export type SkillsPresetOptions = Settings<{ maxResults: number }>;

/** `skill` over some folders, as a constructor that imports its package and brings its reminder. */
export function skillTools(scopes: readonly SkillFolder[], options: SkillsPresetOptions): ToolConstructor[] {
  const tools = () => optionalPeer("@shedkit/tools-skills", () => import("@shedkit/tools-skills"));
  const construct = async () => (await tools()).skillTool(scopes, given(options));
  const told = { id: "skills-discovered", requires: { kind: "skill" } };
  const reminder = lazyReminder(told, async () => (await tools()).skillReminder(scopes));
  return [{ name: "skill", needsSession: false, reminders: [reminder], construct }];
}
