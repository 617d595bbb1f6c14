import { existsSync } from "node:fs";
import path from "node:path";

/** The example folder of the repository, where the program runs in a clone of it. */
export function tourFolder(cwd: string): string | undefined {
  const folder = path.join(cwd, "examples", "tour");
  return existsSync(path.join(folder, "config.ini")) ? folder : undefined;
}

/** Questions that the folder answers. */
export const tourQuestions = [
  "What is the port in config.ini?",
  "What is the version in package.json?",
  "What is the first heading of README.md?",
] as const;
