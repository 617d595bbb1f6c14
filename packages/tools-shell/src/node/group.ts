import { readdirSync, readFileSync } from "node:fs";

/**
 * A started shell's own session of processes. Its number is the shell's process id, which the system gives to nobody else
 * as long as one of them lives; once all were seen to be gone it is never used again.
 */
export class ProcessGroup {
  readonly id: number;
  readonly #bornAt = performance.now();
  #gone = false;

  constructor(id: number) {
    this.id = id;
  }

  /** False once all of them are gone. */
  alive(): boolean {
    if (!this.#gone && !this.#some()) this.#gone = true;
    return !this.#gone;
  }

  signal(name: "SIGTERM" | "SIGKILL"): void {
    if (!this.alive()) return;
    send(-this.id, name);
    // Jobs of a shell with `set -m` have groups of their own.
    for (const { pid, group } of membersOf(this.id, this.#bornAt) ?? []) if (group !== this.id) send(pid, name);
  }

  #some(): boolean {
    const recent = recentMembers(this.id, this.#bornAt);
    if (recent !== undefined) return recent;
    const members = membersOf(this.id, this.#bornAt);
    // Dead ones that nobody has collected are in the group still.
    if (members) return members.length > 0;
    return send(-this.id, 0);
  }
}

/** False where there is no such process. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // there, and not ours to signal
  }
}

interface Snapshot {
  takenAt: number;
  freshUntil: number;
  /** The living processes by session. */
  sessions: ReadonlyMap<string, { pid: number; group: number }[]>;
}

/** One look serves all who ask at about the same time, the longer the longer it took. */
const FRESH_MS = 10;
const FRESH_SHARE = 2;
let last: Snapshot | undefined;

/** The living processes of a session that began at `bornAt`; undefined where the system does not tell (no `/proc`). */
function membersOf(session: number, bornAt: number): { pid: number; group: number }[] | undefined {
  const now = performance.now();
  if (!last || last.takenAt < bornAt || now > last.freshUntil) last = snapshot(now);
  return last && (last.sessions.get(String(session)) ?? []);
}

/** So soon the system cannot have used up its numbers and begun anew. */
const RECENT_MS = 250;
const MOST_RECENT = 64; // numbers

/**
 * Whether a young session has a living process: its processes have the numbers that were given out since it began, so
 * only these are looked at. Undefined where they are too many, or the system does not tell.
 */
function recentMembers(session: number, bornAt: number): boolean | undefined {
  if (performance.now() - bornAt > RECENT_MS) return undefined;
  const last = lastNumber();
  if (last === undefined || last < session || last - session > MOST_RECENT) return undefined;
  for (let pid = session; pid <= last; pid++) {
    const [state, , , own] = statOf(pid);
    if (own === String(session) && state !== "Z" && state !== "X") return true;
  }
  return false;
}

/** The process number that was given out last. */
function lastNumber(): number | undefined {
  try {
    const last = Number(readFileSync("/proc/loadavg", "latin1").split(" ")[4]);
    return Number.isInteger(last) ? last : undefined;
  } catch {
    return undefined;
  }
}

function snapshot(takenAt: number): Snapshot | undefined {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return undefined;
  }
  if (!names.includes("self")) return undefined;
  const sessions = new Map<string, { pid: number; group: number }[]>();
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid < 1) continue;
    const [state, , group, session] = statOf(pid);
    if (session === undefined || state === "Z" || state === "X") continue;
    const known = sessions.get(session);
    if (known) known.push({ pid, group: Number(group) });
    else sessions.set(session, [{ pid, group: Number(group) }]);
  }
  const end = performance.now();
  return { takenAt, freshUntil: end + Math.max(FRESH_MS, (end - takenAt) * FRESH_SHARE), sessions };
}

/** State, parent, group and session of a process; empty where it is gone. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ", 4);
  } catch {
    return [];
  }
}
