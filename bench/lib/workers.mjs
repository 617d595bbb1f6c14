import { fork } from "node:child_process";
import { join } from "node:path";

/** A process for each name, all started at once; `begin(worker, name)` is what each does first. */
export async function startWorkers(names, module, begin = async () => {}) {
  const started = names.map(async (name) => {
    const worker = await startWorker(module);
    await begin(worker, name);
    return [name, worker];
  });
  return Object.fromEntries(await Promise.all(started));
}

/**
 * A process of its own that runs the exported functions of `module`. So each peer has its own heap, its own compiled code
 * and its own CPU time, while the rounds of all go in turn.
 */
export async function startWorker(module) {
  const child = fork(join(import.meta.dirname, "worker.mjs"), [module], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = (errors + chunk).slice(-4000);
  });
  const waiting = new Map();
  let calls = 0;
  child.on("message", ({ id, result, fault }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (fault === undefined) resolve(result);
    else reject(new Error(fault));
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`The worker ended (${signal ?? code}). ${errors}`));
    waiting.clear();
  });
  return {
    /** Rejects with what the function threw, or when the process ends; past `limitMs` the process is killed. */
    call(name, args, { limitMs } = {}) {
      const id = ++calls;
      const done = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      child.send({ id, name, args });
      if (limitMs === undefined) return done;
      const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
      return done.finally(() => clearTimeout(timer));
    },
    end() {
      child.kill("SIGKILL");
    },
  };
}
