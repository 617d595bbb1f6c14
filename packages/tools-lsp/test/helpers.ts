import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { NodeFileSystem } from "@shedkit/fs/node";
import { onTestFinished, vi } from "vitest";
import { type LanguageServer, LanguageServers, type LanguageServersOptions } from "../src/index.js";

const require = createRequire(import.meta.url);

/** The real one. */
export const TYPESCRIPT: LanguageServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../node_modules/typescript-language-server/lib/cli.mjs", import.meta.url)), "--stdio"],
  languages: { ".ts": "typescript", ".tsx": "typescriptreact" },
  initializationOptions: {
    disableAutomaticTypingAcquisition: true,
    // Else the first answers come from a half of it that knows only the file.
    tsserver: { useSyntaxServer: "never", path: require.resolve("typescript-5/lib/tsserver.js") },
  },
};

/** Long enough for a machine that does much else. */
export const PATIENT: LanguageServersOptions = { startTimeoutMs: 50_000, requestTimeoutMs: 50_000, graceMs: 20_000 };

/** A real folder with files, gone after the test. */
export async function folder(files: { readonly [path: string]: string }): Promise<NodeFileSystem> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-lsp-")));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return new NodeFileSystem(root);
}

/** Servers that end with the test. */
export function serversOf(
  fs: NodeFileSystem,
  servers: { readonly [name: string]: LanguageServer },
  options: LanguageServersOptions = PATIENT,
): LanguageServers {
  const made = new LanguageServers(fs, servers, options);
  onTestFinished(() => made.close());
  return made;
}

const PROTOCOL = pathToFileURL(require.resolve("vscode-languageserver-protocol/node")).href;

/**
 * A server of our own, which does as it is told: `script` is the body of a module that has `connection`, `folder` and the
 * `starts` so far, counted in the folder.
 */
export async function scripted(fs: NodeFileSystem, script: string): Promise<LanguageServer> {
  const file = join(fs.root, "server.mjs");
  await writeFile(
    file,
    `import protocol from ${JSON.stringify(PROTOCOL)};
     import { existsSync, readFileSync, writeFileSync } from "node:fs";
     const count = new URL("./starts", import.meta.url);
     const starts = (existsSync(count) ? Number(readFileSync(count, "utf8")) : 0) + 1;
     writeFileSync(count, String(starts));
     const connection = protocol.createProtocolConnection(process.stdin, process.stdout);
     connection.onRequest("shutdown", () => null);
     connection.onNotification("exit", () => process.exit(0));
     ${script}
     connection.listen();`,
  );
  return { command: process.execPath, args: [file], languages: { ".x": "x" } };
}

/** Waits until no process of a group lives any more. */
export async function groupEnds(group: number): Promise<void> {
  await vi.waitFor(
    () => {
      if (livingOf(group).length > 0) throw new Error(`processes of group ${group} live: ${livingOf(group)}`);
    },
    { timeout: 40_000 },
  );
}

/** Dead ones that nobody has collected yet are none. */
function livingOf(group: number): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const [state, , own] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 3);
      return own === String(group) && state !== "Z" && state !== "X";
    } catch {
      return false;
    }
  });
}
