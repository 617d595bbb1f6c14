import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { NodeFileSystem } from "@shedkit/fs/node";
import { onTestFinished } from "vitest";

/** A SKILL.md. */
export function skill(name: string, description: string, more = "", body = `Do ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n${body}\n`;
}

/** A real folder with these files, gone after the test. */
export async function folderWith(files: { [path: string]: string }): Promise<{ fs: NodeFileSystem; root: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-skills-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { fs: new NodeFileSystem(root), root };
}
