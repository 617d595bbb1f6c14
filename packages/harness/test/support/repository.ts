import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import type { FileSystem } from "@shedkit/fs";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { OverlayFileSystem } from "@shedkit/fs/overlay";
import { type ModelProvider, ProviderRouter } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { shellTools } from "@shedkit/tools-shell";
import { NodeTerminal } from "@shedkit/tools-shell/node";
import { expect, onTestFinished } from "vitest";
import { ToolPreset } from "../../src/index.js";
import { MirrorTerminal } from "./mirror-terminal.js";

/** A small repository whose test passes, and how it is broken. */
export interface Repository {
  readonly files: { readonly [path: string]: string };
  readonly path: string;
  readonly broken: readonly [was: string, is: string];
}

export const TOTAL: Repository = {
  files: {
    "total.test.mjs": `import assert from "node:assert/strict";\nimport { total } from "./lib/total.mjs";\n\nassert.equal(total([1, 2, 4]), 7);\n`,
    "lib/total.mjs": `/** The sum of some numbers. */\nexport function total(numbers) {\n  return numbers.reduce((a, b) => a + b, 0);\n}\n`,
    "lib/mean.mjs": `export const mean = (numbers) => numbers.length;\n`,
  },
  path: "lib/total.mjs",
  broken: ["a + b", "a / b"],
};

/** Another test, another place, another mistake: found by the same program. */
export const VOLUME: Repository = {
  files: {
    "README.md": "# Shapes\n\nVolumes are products.\n",
    "box.test.mjs": `import assert from "node:assert/strict";\nimport { volume } from "./src/shapes/box.mjs";\n\nassert.equal(volume(2, 3), 18);\n`,
    "src/shapes/box.mjs": `export function volume(side, height) {\n  const base = side ** 2;\n  return base * height + 6;\n}\n`,
    "src/shapes/ball.mjs": `export function radius(ball) {\n  return ball.radius;\n}\n`,
  },
  path: "src/shapes/box.mjs",
  broken: ["base * height + 6", "base + height + 6"],
};

export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "shedkit-fixes-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Where the repository is, and the agent's tools for it. */
interface Place {
  fs: FileSystem;
  shell: ToolPreset;
  /** What is there in the end, after the host has taken the changes over. */
  finish(path: string): Promise<string>;
}

async function onDisk(files: { [path: string]: string }): Promise<string> {
  const folder = await tempFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** Commands of a file system that is not on the disk. */
async function mirrored(fs: FileSystem): Promise<ToolPreset> {
  const terminal = new NodeTerminal({ cwd: await tempFolder() });
  onTestFinished(() => terminal.dispose());
  return ToolPreset.fromConstructors(shellTools(new MirrorTerminal(fs, terminal)));
}

export const PLACES = {
  "the disk": async (files: { [path: string]: string }): Promise<Place> => {
    const cwd = await onDisk(files);
    return {
      fs: new NodeFileSystem(cwd),
      shell: ToolPreset.shell({ cwd }),
      finish: (path) => readFile(join(cwd, path), "utf8"),
    };
  },
  memory: async (files: { [path: string]: string }): Promise<Place> => {
    const fs = new MemoryFileSystem(files);
    const finish = async (path: string) => new TextDecoder().decode(await fs.readFile(path));
    return { fs, shell: await mirrored(fs), finish };
  },
  "an overlay": async (files: { [path: string]: string }): Promise<Place> => {
    const cwd = await onDisk(files);
    const fs = new OverlayFileSystem(new NodeFileSystem(cwd));
    const finish = async (path: string) => {
      expect(await readFile(join(cwd, path), "utf8")).toBe(files[path]); // nothing was written so far
      expect((await fs.diff()).map((change) => change.path)).toEqual([path]);
      await fs.commit();
      return readFile(join(cwd, path), "utf8");
    };
    return { fs, shell: await mirrored(fs), finish };
  },
} satisfies { [name: string]: (files: { [path: string]: string }) => Promise<Place> };

/** Lets an agent on a model mend a repository: what it called, and what it said in the end. */
export async function fix(
  provider: ModelProvider,
  model: string,
  { files, path, broken }: Repository,
  place: keyof typeof PLACES,
) {
  const [was, is] = broken;
  const spoilt = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, name === path ? text.replace(was, is) : text]),
  );
  const { fs, shell, finish } = await PLACES[place](spoilt);
  const agent = await AgentSession.builder(ProviderRouter.builder().provider(provider).build())
    .withModel(model)
    .withToolshed(new ToolShed().tools(ToolPreset.files(fs)).tools(ToolPreset.searchFiles(fs)).tools(shell))
    .build();
  onTestFinished(() => agent.end());
  const calls: string[] = [];
  let said = "";
  for await (const event of agent.runTurnStream("The test fails. Mend it.").events()) {
    if (event.type === "toolCall") calls.push(event.name);
    else if (event.type === "text") said += event.delta;
    else if (event.type === "failed") throw event.error;
  }
  return { calls, said, source: await finish(path) };
}

/** What `fix` gives for a repository that the program mended. */
export const fixed = ({ files, path }: Repository) => ({
  // The first change does not help.
  calls: "shed bash bash read search_file read edit bash edit bash".split(" "),
  said: "The test passes now.",
  source: files[path],
});
