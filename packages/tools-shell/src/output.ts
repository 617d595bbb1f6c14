import { keptResults, type ToolContext } from "@shedkit/tool";
import type { Secrets, TerminalJob } from "./terminal.js";
import { cleanOutput, count, headAndTail } from "./text.js";

/** What a command wrote, as far as a model is shown it. */
export interface ShownOutput {
  text: string;
  /** True where some of it is left out. */
  truncated: boolean;
  /** Length of the whole, in bytes. */
  bytes: number;
}

/** How much is kept for a `read` tool, in bytes; the log on the disk has all. */
const MAX_KEPT = 16 * 1024 * 1024;
const BYTES_A_CHARACTER = 8; // with colours and the like

/** The output of a job, or its head and its tail, and how to get at the rest. */
export async function outputOf(
  job: TerminalJob,
  limit: number,
  ctx: ToolContext,
  { keep, secrets }: { keep: boolean; secrets: Secrets | undefined },
): Promise<ShownOutput> {
  const clean = (text: string): string => secrets?.hide(cleanOutput(text)) ?? cleanOutput(text);
  const bytes = await job.size();
  const reach = limit * BYTES_A_CHARACTER;
  let first: string;
  let last: string;
  if (bytes <= 2 * reach) {
    first = clean(decode(await job.read(0, bytes)));
    if (first.length <= limit) return { text: first, truncated: false, bytes };
    last = first;
  } else {
    first = clean(decode(await job.read(0, reach), true));
    last = clean(decode(afterCut(await job.read(bytes - reach, bytes))));
  }
  const { head, tail } = headAndTail(first, last, limit);
  const note = `[... output left out here: it has ${count(bytes)} bytes.${await whereWhole(job, bytes, ctx, keep ? clean : undefined)} ...]`;
  const text = `${head}${head.endsWith("\n") ? "" : "\n"}${note}\n${tail}`;
  return { text, truncated: true, bytes };
}

async function whereWhole(
  job: TerminalJob,
  bytes: number,
  ctx: ToolContext,
  clean: ((text: string) => string) | undefined,
): Promise<string> {
  const kept = ctx.resources.get(keptResults);
  if (!kept || !clean || bytes > MAX_KEPT) return job.logPath === undefined ? "" : inLog(job.logPath, ctx);
  const handle = kept.keep(ctx.callId, clean(decode(await job.read(0, bytes))));
  const read = ctx.names.toolOf("read");
  const path = ctx.names.paramOf("read", "path");
  const how = read === undefined ? "" : ` by ${read}${path === undefined ? "" : ` (${path})`}`;
  return ` The whole is kept as "${handle}", which can be read like a file${how}.`;
}

function inLog(path: string, { names }: ToolContext): string {
  const run = names.toolOf("execute");
  return ` The whole is in ${path}${run === undefined ? "" : `, of which ${run} can show parts (grep, sed -n)`}.`;
}

/** Without the rest of a character whose beginning was cut off. */
function afterCut(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}

function decode(bytes: Uint8Array, more = false): string {
  return new TextDecoder().decode(bytes, { stream: more });
}
