import type { Reminder, Resources, ToolCallResult, ToolContext } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import type { Diagnostic } from "vscode-languageserver-protocol/node";
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
 * Says after a call what errors and warnings the files have that it changed, by `write`, `edit` and the like, or (of those that
 * the server was asked about before) in any other way. It waits half a second; what comes later is said after a later call. The
 * first change of a language starts its server.
 */
export function diagnosticsReminder(servers: LanguageServers): Reminder {
  const pool = poolOf(servers);
  const watches = new WeakMap<Resources, Map<string, Watch>>();
  return {
    id: "lsp_diagnostics",
    async collect(ctx, result) {
      const known = watches.get(ctx.resources) ?? new Map<string, Watch>();
      watches.set(ctx.resources, known);
      const changed = changedPaths(result).flatMap((path) => inside(pool, path));
      const said = await Promise.all(
        pool.names.map((name) => {
          const own = changed.filter((path) => pool.nameFor(path) === name);
          return collectFrom(pool, name, own, known, ctx);
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
  changed: readonly string[],
  watches: Map<string, Watch>,
  ctx: ToolContext,
): Promise<Said[]> {
  const running = servers.running(name);
  let watch = watches.get(name);
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
  watch = watchOf(running, watches, name);
  for (const path of [...(await running.documents.refresh(ctx.signal)), ...changed]) watch.pending.add(path);
  await running.filesChanged(changed);
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

/** The files that a result says were changed: of the outputs of tools that write, edit, patch and move. */
function changedPaths({ output }: ToolCallResult): string[] {
  if (!isObject(output) || output.written === false) return [];
  const { path, files, to } = output;
  if (Array.isArray(files) && output.written === true) {
    return files.flatMap((file) => (isObject(file) && typeof file.path === "string" ? [file.path] : []));
  }
  if (typeof to === "string" && typeof output.from === "string") return [to];
  const edited = typeof output.replacements === "number" || typeof output.bytes === "number";
  return edited && typeof path === "string" ? [path] : [];
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function inside(servers: ServerPool, path: string): string[] {
  try {
    return [servers.fs.resolve(path)];
  } catch {
    return []; // of another file system
  }
}
