import { fileChangesOf, type Reminder, type Resources, type ToolContext } from "@shedkit/tool";
import { type Diagnostic, FileChangeType } from "vscode-languageserver-protocol/node";
import { fatesOf } from "./changes.js";
import { isInside, pathOf } from "./paths.js";
import type { ServerPool } from "./pool.js";
import { bySeverity, diagnosticLine, isGrave, shownPath } from "./render.js";
import { type LanguageServers, poolOf } from "./servers.js";
import type { ServerSession } from "./session.js";

const WAIT_MS = 500;
const MOST_PER_FILE = 10;
const MOST = 30;
/** A server that has been waited for in vain so often is not waited for until it says something. */
const MOST_SILENCES = 3;

/** What one session knows of one server's diagnostics. */
interface Watch {
  session: ServerSession;
  /** Changed files of which nothing was heard since. */
  readonly pending: Set<string>;
  /** What the model was told last, by path. */
  readonly told: Map<string, string>;
  /** How much of what the server said was looked at. */
  seen: number;
  silences: number;
}

/**
 * Says after a call what errors and warnings the files have that it changed: those that a tool added to `fileChangesOf`, as
 * all tools of this toolkit do that change files, and of those that the server was asked about before any other that changed.
 * It waits half a second; what comes later is said after a later call. The first change of a language starts its server.
 */
export function diagnosticsReminder(servers: LanguageServers): Reminder {
  const pool = poolOf(servers);
  const sessions = new WeakMap<Resources, { watches: Map<string, Watch>; changes: number }>();
  return {
    id: "lsp_diagnostics",
    async collect(ctx) {
      const known = sessions.get(ctx.resources) ?? { watches: new Map<string, Watch>(), changes: 0 };
      sessions.set(ctx.resources, known);
      const log = fileChangesOf(ctx.resources);
      const fates = fatesOf(pool.fs, log.since(known.changes));
      known.changes = log.count;
      const said = await Promise.all(
        pool.names.map((name) => {
          const own = new Map([...fates].filter(([path]) => pool.nameFor(path) === name));
          return collectFrom(pool, name, own, known.watches, ctx);
        }),
      );
      const text = render(said.flat());
      return text === "" ? [] : [{ key: text, text }];
    },
  };
}

interface Said {
  path: string;
  diagnostics: readonly Diagnostic[];
  /** True where the model was told of errors that are gone. */
  mended: boolean;
}

async function collectFrom(
  servers: ServerPool,
  name: string,
  fates: ReadonlyMap<string, FileChangeType>,
  watches: Map<string, Watch>,
  ctx: ToolContext,
): Promise<Said[]> {
  const running = servers.running(name);
  const changed = [...fates].flatMap(([path, fate]) => (fate === FileChangeType.Deleted ? [] : [path]));
  if (running === undefined) {
    if (changed.length === 0) return [];
    servers.hold(ctx.resources);
    servers.start(name, new AbortController().signal).then(
      (session) => {
        const begun = watchOf(session, watches, name);
        for (const path of changed) begun.pending.add(path);
      },
      () => {}, // the tool says why, to who asks
    );
    return [];
  }
  const watch = watchOf(running, watches, name);
  for (const path of [...(await running.documents.refresh(ctx.signal)), ...changed]) watch.pending.add(path);
  for (const [path, fate] of fates) {
    if (fate !== FileChangeType.Deleted) continue;
    watch.pending.delete(path);
    watch.told.delete(path); // where it is made again, its errors are new
  }
  await running.filesChanged(fates);
  const said: Said[] = [];
  const wait = watch.silences < MOST_SILENCES || running.reports.count > watch.seen ? WAIT_MS : 0;
  await Promise.all([...watch.pending].map((path) => hear(running, watch, path, wait, ctx, said)));
  if (watch.pending.size === 0) watch.silences = 0;
  else watch.silences++;
  // What the change did to other files.
  for (const [uri, diagnostics] of running.reports.since(watch.seen)) {
    const path = pathOf(servers.fs, uri);
    if (isInside(path) && !watch.pending.has(path)) tell(watch, path, diagnostics, said);
  }
  watch.seen = running.reports.count;
  return said;
}

function watchOf(session: ServerSession, watches: Map<string, Watch>, name: string): Watch {
  const known = watches.get(name);
  if (known?.session === session) return known;
  const pending = known?.pending ?? new Set<string>();
  const watch: Watch = { session, pending, told: known?.told ?? new Map(), seen: 0, silences: 0 };
  watches.set(name, watch);
  return watch;
}

async function hear(
  session: ServerSession,
  watch: Watch,
  path: string,
  wait: number,
  ctx: ToolContext,
  said: Said[],
): Promise<void> {
  try {
    const diagnostics = await session.diagnose(path, wait, ctx.signal);
    if (diagnostics === undefined) return;
    watch.pending.delete(path);
    tell(watch, path, diagnostics, said);
  } catch {
    watch.pending.delete(path); // it is gone, or the server is
  }
}

/** Once, unless it changes. */
function tell(watch: Watch, path: string, all: readonly Diagnostic[], said: Said[]): void {
  const diagnostics = all.filter(isGrave).sort(bySeverity);
  const now = diagnostics.map(diagnosticLine).join("\n");
  const before = watch.told.get(path) ?? "";
  if (now === before) return;
  watch.told.set(path, now);
  said.push({ path, diagnostics, mended: now === "" });
}

function render(said: readonly Said[]): string {
  const lines: string[] = [];
  let left = MOST;
  let more = 0;
  for (const { path: name, diagnostics, mended } of said) {
    const path = shownPath(name);
    if (mended) lines.push(`${path}: no errors or warnings any more.`);
    const shown = diagnostics.slice(0, Math.min(MOST_PER_FILE, left));
    left -= shown.length;
    more += diagnostics.length - shown.length;
    lines.push(...shown.map((diagnostic) => `${path}:${diagnosticLine(diagnostic)}`));
  }
  if (more > 0) lines.push(`[${more} more are not shown.]`);
  return lines.length === 0 ? "" : `The language server says of the files as they are now:\n${lines.join("\n")}`;
}
