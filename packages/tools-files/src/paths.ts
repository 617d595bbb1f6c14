import { cleanPath, type FileSystem, isFsError } from "@shedkit/fs";
import type { AccessRequest } from "@shedkit/tool";
import type { ToolArguments } from "@shedkit/types";

/** What a call on `path` reads or changes, as a name that two spellings of one path share. */
export function touching(fs: FileSystem, path: unknown): readonly string[] {
  return typeof path === "string" ? [`file:${absolute(fs, path)}`] : [];
}

/** For `capabilities.touches`: the `path` argument. */
export function touchesPath(fs: FileSystem): (args: ToolArguments) => readonly string[] {
  return (args) => touching(fs, args.path);
}

/** For `access`. */
export function accessTo(fs: FileSystem, action: "read" | "write", path: string): readonly AccessRequest[] {
  return [{ action, target: absolute(fs, path) }];
}

function absolute(fs: FileSystem, path: string): string {
  const clean = cleanPath(path);
  try {
    const relative = fs.resolve(clean);
    if (relative === ".") return fs.root;
    return `${fs.root.endsWith("/") ? fs.root.slice(0, -1) : fs.root}/${relative}`;
  } catch (error) {
    if (isFsError(error)) return clean; // refused when the call runs
    throw error;
  }
}
