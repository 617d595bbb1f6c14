import { execFile } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { ToolError } from "@shedkit/tool";

/** What commands may do in the sandbox. */
export interface SandboxOptions {
  /** Folders that they may write to, with what is in them. Default: the terminal's folder. */
  writable?: readonly string[] | undefined;
  /** Files that they cannot read and folders that they see as empty, e.g. `/home/me/.ssh`. Default: none. */
  hidden?: readonly string[] | undefined;
  /** Gives them the network, of this machine too. Default: false, there is none. */
  network?: boolean | undefined;
}

const BWRAP = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];
const TMP = "/tmp";

// What programs listen on is reached through files, wherever they can be seen; a read-only view does not hinder that.
const SOCKETS = ["/run", "/var/run"];

/** Runs commands in bubblewrap: its own processes, no network, a read-only view of the disk but for some folders. */
export class Sandbox {
  readonly #bwrap: string;
  readonly #cwd: string;
  readonly #writable: readonly string[];
  readonly #hidden: readonly string[];
  readonly #network: boolean;
  #works: Promise<void> | undefined;

  /** Throws ToolError: `serviceUnavailable` without bubblewrap, `notFound` where a writable folder does not exist. */
  constructor({ writable, hidden = [], network = false }: SandboxOptions, cwd: string) {
    const bwrap = process.platform === "linux" ? BWRAP.find((path) => existsSync(path)) : undefined;
    if (bwrap === undefined) {
      const text =
        "There is no sandbox here: it needs Linux and bubblewrap (bwrap). Install that, or leave out the option sandbox.";
      throw new ToolError("serviceUnavailable", "terminal", text);
    }
    this.#bwrap = bwrap;
    this.#cwd = cwd;
    const roots = (writable ?? [cwd]).map((path) => realFolder(resolve(cwd, path)));
    // One that lies in another needs no mount of its own, which could be led elsewhere before the next command.
    this.#writable = roots.filter((root) => !roots.some((other) => other !== root && isBelow(root, other)));
    this.#hidden = hidden.flatMap((path) => {
      const full = resolve(cwd, path);
      return existsSync(full) ? [realpathSync(full)] : [];
    });
    this.#network = network;
  }

  /** Resolves when a sandbox could be made. Rejects with ToolError `serviceUnavailable` where the system does not let it. */
  ready(): Promise<void> {
    this.#works ??= new Promise((done, fail) => {
      execFile(this.#bwrap, [...this.#view(), "--", "/bin/sh", "-c", ":"], { cwd: "/" }, (error, _, stderr) => {
        if (!error) return done();
        const text = `A sandbox cannot be made here: ${stderr.trim() || error.message}. Leave out the option sandbox, or allow it.`;
        fail(new ToolError("serviceUnavailable", "terminal", text));
      });
    });
    return this.#works;
  }

  /**
   * The program and the arguments that come before a command's own.
   *
   * @param logs The terminal's private folder: read only in there, its `tmp` is what the command sees as `/tmp`.
   * @param left The folder in which the command leaves its state; it is made. Empty: none.
   */
  command(cwd: string, logs: string, left: string): [program: string, args: string[]] {
    const tmp = join(logs, "tmp");
    mkdirSync(tmp, { recursive: true, mode: 0o700 });
    if (left !== "") mkdirSync(left, { mode: 0o700 });
    const args = [...this.#view(tmp), "--ro-bind", this.#cwd, this.#cwd]; // it may lie in /tmp
    for (const root of this.#writable) args.push("--bind", root, root);
    args.push("--ro-bind", logs, logs); // also where it lies in a folder that may be written
    if (left !== "") args.push("--bind", left, left);
    for (const path of this.#hidden) args.push(...hide(path));
    return [this.#bwrap, [...args, "--chdir", cwd, "--"]];
  }

  /** Where a folder that commands know lies in truth. */
  outside(path: string, logs: string): string {
    const seen = [logs, this.#cwd, ...this.#writable];
    if (!isBelow(path, TMP) || seen.some((folder) => isBelow(path, folder))) return path;
    return join(logs, "tmp", relative(TMP, path));
  }

  #view(tmp?: string): string[] {
    const args = ["--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--ro-bind", "/", "/"];
    args.push("--dev", "/dev", "--proc", "/proc");
    for (const path of SOCKETS) if (existsSync(path) && realpathSync(path) === path) args.push("--tmpfs", path);
    args.push(...(tmp === undefined ? ["--tmpfs", TMP] : ["--bind", tmp, TMP]));
    if (!this.#network) return args;
    const names = existsSync("/etc/resolv.conf") ? realpathSync("/etc/resolv.conf") : "/etc/resolv.conf";
    return [...args, "--share-net", ...(names.startsWith("/run/") ? ["--ro-bind", names, names] : [])];
  }
}

function hide(path: string): string[] {
  return statSync(path).isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

function realFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path);
  throw new ToolError("notFound", "terminal", `The folder ${JSON.stringify(path)} to be writable does not exist.`);
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
