import { spawn } from "node:child_process";
import { sep } from "node:path";
import type { FileFinder } from "./finder.js";

/**
 * Lists files with ripgrep, from the optional dependency `@vscode/ripgrep`. Undefined where that is not installed.
 *
 * @param root The real folder that the file system has as its root.
 */
export async function ripgrep(root: string): Promise<FileFinder | undefined> {
  const path = await import("@vscode/ripgrep").then(
    (module) => module.rgPath,
    () => undefined,
  );
  return path === undefined ? undefined : new Ripgrep(path, root);
}

const MAX_OUTPUT = 64 * 1024 * 1024; // of paths, in bytes
const MISREAD = String.raw`\{|\[[^\]]*$|\[:`;

/** What holds for every run in a folder. */
function walking(folder: string): string[] {
  // Rules above the root do not count, nor a person's own. Those of `.ignore` files, which it puts before all others, are
  // looked at afterwards.
  const args = ["--no-config", "--null", "--no-messages", "--no-require-git", "--no-ignore-parent"];
  args.push("--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot");
  for (const name of [".git", "node_modules"]) {
    if (!folder.split("/").includes(name)) args.push("--glob", `!**/${name}/**`);
  }
  return args;
}

class Ripgrep implements FileFinder {
  readonly #path: string;
  readonly #root: string;

  constructor(path: string, root: string) {
    this.#path = path;
    this.#root = root;
  }

  async files(request: Parameters<FileFinder["files"]>[0]): Promise<readonly string[] | undefined> {
    // It takes braces and open brackets in ignore files for more than git does; there it must not hide anything.
    const [found, misread] = await Promise.all([this.#list(request, []), this.#misreadsRules(request)]);
    return misread ? this.#list(request, ["--no-ignore"]) : found;
  }

  async #list(
    { folder, texts, ignoreCase, hidden, signal }: Parameters<FileFinder["files"]>[0],
    more: readonly string[],
  ): Promise<string[] | undefined> {
    const args = [...walking(folder), ...more];
    if (hidden) args.push("--hidden");
    if (texts.length === 0) args.push("--files");
    else {
      // Where there is a NUL it goes on (`--binary`) as if lines ended there: with `--text` it holds a file of zeros in memory.
      args.push(
        "--files-with-matches",
        "--fixed-strings",
        "--binary",
        ignoreCase ? "--ignore-case" : "--case-sensitive",
      );
      for (const text of texts) args.push("--regexp", text);
    }
    return this.#paths(args, folder, signal);
  }

  async #misreadsRules({ folder, signal }: Parameters<FileFinder["files"]>[0]): Promise<boolean> {
    const args = [...walking(folder), "--hidden", "--glob", ".gitignore", "--files-with-matches", "--binary"];
    const found = await this.#paths([...args, "--regexp", MISREAD], folder, signal);
    return found === undefined || found.length > 0;
  }

  async #paths(args: readonly string[], folder: string, signal: AbortSignal): Promise<string[] | undefined> {
    const output = await this.#run([...args, "--", `.${sep}${folder === "." ? "" : folder}`], signal);
    return output?.split("\0").flatMap((path) => {
      const clean = path.replaceAll(sep, "/").replace(/^\.\//, "");
      return clean === "" ? [] : [clean];
    });
  }

  /** What it says; undefined where it fails. Rejects when aborted. */
  #run(args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn(this.#path, args, { cwd: this.#root, stdio: ["ignore", "pipe", "ignore"] });
      const pieces: Buffer[] = [];
      let size = 0;
      const stop = (): void => {
        child.kill("SIGKILL");
        reject(signal.reason);
      };
      signal.addEventListener("abort", stop, { once: true });
      child.stdout.on("data", (piece: Buffer) => {
        size += piece.length;
        if (size > MAX_OUTPUT) child.kill("SIGKILL");
        else pieces.push(piece);
      });
      const done = (output: string | undefined): void => {
        signal.removeEventListener("abort", stop);
        resolve(output);
      };
      child.on("error", () => done(undefined));
      // 1: nothing was found; 2: something could not be read, which is no reason to leave out the rest.
      child.on("close", (code) => {
        const whole = code === 0 || code === 1 || (code === 2 && size > 0);
        done(whole ? Buffer.concat(pieces).toString("utf8") : undefined);
      });
    });
  }
}
