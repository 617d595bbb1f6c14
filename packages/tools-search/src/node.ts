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

class Ripgrep implements FileFinder {
  readonly #path: string;
  readonly #root: string;

  constructor(path: string, root: string) {
    this.#path = path;
    this.#root = root;
  }

  async files(request: Parameters<FileFinder["files"]>[0]): Promise<readonly string[] | undefined> {
    const { folder, texts, ignoreCase, hidden, signal } = request;
    // Rules above the root do not count, nor a person's own.
    const walking = ["--no-config", "--null", "--no-messages", "--no-require-git", "--no-ignore-parent"];
    const args = [...walking, "--no-ignore-global", "--no-ignore-exclude"];
    if (hidden) args.push("--hidden");
    for (const name of [".git", "node_modules"]) {
      if (!folder.split("/").includes(name)) args.push("--glob", `!**/${name}/**`);
    }
    if (texts.length === 0) args.push("--files");
    else {
      args.push("--files-with-matches", "--fixed-strings", "--text", ignoreCase ? "--ignore-case" : "--case-sensitive");
      for (const text of texts) args.push("--regexp", text);
    }
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
      // 1: nothing was found.
      child.on("close", (code) => done(code === 0 || code === 1 ? Buffer.concat(pieces).toString("utf8") : undefined));
    });
  }
}
