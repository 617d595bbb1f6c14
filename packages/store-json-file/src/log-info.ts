import { join } from "node:path";
import type { SessionInfo } from "@shedkit/store";
import { infoAfter } from "@shedkit/store/backend";
import type { SessionId } from "@shedkit/types";
import { DamagedLog, LogReader } from "./log-file.js";

/**
 * What a listing says of the log in `folder`, from its beginning and its end; undefined where nothing was appended, and
 * where it is none that can be read: one bad file must not hide all the others.
 */
export async function infoOf(folder: string): Promise<SessionInfo | undefined> {
  try {
    return await readInfo(folder);
  } catch (error) {
    const isFile = (error as NodeJS.ErrnoException).code === "ENOTDIR"; // what a file manager leaves in every folder
    if (isFile || error instanceof DamagedLog) return undefined;
    throw error;
  }
}

async function readInfo(folder: string): Promise<SessionInfo | undefined> {
  const log = await LogReader.open(join(folder, "log.jsonl"));
  if (log === undefined) return undefined;
  try {
    const header = await log.header();
    const { records, size, last } = await log.end();
    if (header === undefined || records === 0) return undefined;
    let info: SessionInfo | undefined;
    for await (const { record } of log.read(0, records, size)) {
      info = infoAfter(info, header.session as SessionId, [record]);
      if (info.title !== undefined) break; // the first thing its user said; all else is at the end
    }
    return info && { ...info, updatedAt: last?.at ?? info.updatedAt, records };
  } finally {
    await log.close();
  }
}
