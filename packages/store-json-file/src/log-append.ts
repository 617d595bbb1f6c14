import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { appendText, headerText, LogReader } from "./log-file.js";
import { syncFolder } from "./write-file.js";

/** Appends to the log in `folder`, which must end where `end` says; returns its new size. Whole or not at all. */
export async function appendToLog(
  folder: string,
  session: string,
  end: { records: number; size: number },
  bodies: readonly string[],
): Promise<number> {
  const text = appendText(bodies, end.records);
  const data = Buffer.from(end.size === 0 ? headerText(session) + text : text);
  const file = await open(join(folder, "log.jsonl"), "a");
  try {
    const { size } = await file.stat();
    if (size < end.size) {
      throw new Error(`the log has ${size} bytes and should have ${end.size}: something else wrote to its file`);
    }
    if (size > end.size) await file.truncate(end.size); // an append that failed, on a full disk say
    await file.appendFile(data);
    await file.datasync();
  } catch (error) {
    await file.truncate(end.size).catch(() => {}); // else the next append does it
    throw error;
  } finally {
    await file.close();
  }
  if (end.size === 0) {
    await syncFolder(folder);
    await syncFolder(dirname(folder));
  }
  return end.size + data.length;
}

/** Finds the end of the log in `folder`, and takes away what a crash left after it: it is kept in a file of its own. */
export async function recoverLog(
  folder: string,
  fence: number,
): Promise<{ records: number; size: number; torn?: { file: string; bytes: number } }> {
  const path = join(folder, "log.jsonl");
  const log = await LogReader.open(path);
  if (log === undefined) return { records: 0, size: 0 };
  try {
    await log.header();
    const { records, size, fileSize } = await log.end();
    if (fileSize === size) return { records, size };
    const torn = join(folder, `torn.${fence}`);
    const file = await open(path, "r+");
    try {
      const { buffer } = await file.read(Buffer.alloc(fileSize - size), 0, fileSize - size, size);
      const kept = await open(torn, "w");
      try {
        await kept.writeFile(buffer);
        await kept.sync();
      } finally {
        await kept.close();
      }
      await file.truncate(size);
      await file.datasync();
    } finally {
      await file.close();
    }
    return { records, size, torn: { file: torn, bytes: fileSize - size } };
  } finally {
    await log.close();
  }
}
