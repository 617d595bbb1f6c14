import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import { optionalPeer } from "./optional-peer.js";

/** A folder with skills, as `@shedkit/tools-skills` describes it. */
export interface SkillFolder {
  name: string;
  fs: FileSystem;
  folder: string;
}

/** `skill` over some folders, as a constructor that imports its package. */
export function skillTools(scopes: readonly SkillFolder[]): ToolConstructor[] {
  const construct = async () => {
    const { skillTool } = await optionalPeer("@shedkit/tools-skills", () => import("@shedkit/tools-skills"));
    return skillTool(scopes);
  };
  return [{ name: "skill", needsSession: false, construct }];
}
