import { homedir } from "node:os";
import type { RunOptions } from "./args.js";
import { loadSettings, userFolder } from "./config.js";
import type { Settings, Sourced } from "./settings.js";

/** The settings in force for a folder; a flag wins over everything else. */
export function settingsOf(options: RunOptions, root: string): Promise<Sourced<Settings>> {
  const { model, yes, readOnly, noKeep } = options;
  return loadSettings({
    flags: {
      ...(model !== undefined && { model: { value: model, from: "--model" } }),
      ...(yes && { permission: { value: "allow", from: "--yes" } }),
      ...(readOnly && { permission: { value: "readOnly", from: "--read-only" } }),
      ...(noKeep && { keepSessions: { value: false, from: "--no-keep" } }),
    },
    env: process.env,
    root,
    home: homedir(),
  });
}

/** Where a person's own skills and notes are. */
export function ownFolder(): string {
  return userFolder(process.env, homedir());
}
