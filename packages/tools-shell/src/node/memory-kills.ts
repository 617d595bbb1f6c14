import { readFileSync } from "node:fs";

/**
 * How many processes the system has killed for want of memory, as far as it tells: of this program's control group, to which
 * its commands belong; else of the whole machine. Undefined where it does not tell (macOS).
 */
export function memoryKills(root = "/"): number | undefined {
  const group = /^0::(\/.*)$/m.exec(textOf(`${root}proc/self/cgroup`) ?? "")?.[1];
  const own = group === undefined ? undefined : countIn(`${root}sys/fs/cgroup${group}/memory.events`);
  return own ?? countIn(`${root}proc/vmstat`);
}

function countIn(path: string): number | undefined {
  const found = /^oom_kill (\d+)$/m.exec(textOf(path) ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
