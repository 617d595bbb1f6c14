/**
 * Node's modules are asked for when they are needed, not imported: a bundle for an edge runtime may hold this file, for
 * storages that are local or remote, and must load where those modules are not.
 */
const node = {
  get fs() {
    return process.getBuiltinModule("node:fs");
  },
  get os() {
    return process.getBuiltinModule("node:os");
  },
  get childProcess() {
    return process.getBuiltinModule("node:child_process");
  },
};

/**
 * Names this process so that others on the machine can tell whether it still runs, also when its number is given
 * to another process: `machine:pid:start`.
 */
export function processName(): string {
  return `${machine()}:${process.pid}:${startOf(process.pid) ?? ""}`;
}

/** Whether the process of that name runs; `undefined` for a name of another machine, or no such name. */
export function isProcessAlive(name: string): boolean | undefined {
  const [, where, pid, start] = /^(.*):(\d+):(.*)$/s.exec(name) ?? [];
  if (where !== machine()) return undefined;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return start === "" || startOf(Number(pid)) === start;
}

/** Where the numbers of processes mean the same: the host, its run since the last start, and the container. */
function machine(): string {
  return `${node.os.hostname()}:${orEmpty(() => node.fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())}:${orEmpty(
    () => node.fs.readlinkSync("/proc/self/ns/pid"),
  )}`;
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** When a process was started, in the system's own words. */
function startOf(pid: number): string | undefined {
  if (process.platform === "linux") {
    try {
      const stat = node.fs.readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // its name, in brackets, may hold anything
      return fields[0] === "Z" ? undefined : fields[19]; // a zombie has ended
    } catch {
      return undefined;
    }
  }
  if (process.platform === "win32") return undefined;
  try {
    return node.childProcess
      .execFileSync("ps", ["-o", "lstart=", "-p", `${pid}`], { encoding: "utf8" })
      .trim()
      .replaceAll(" ", "_");
  } catch {
    return undefined;
  }
}
