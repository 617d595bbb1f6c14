import { storeError } from "@shedkit/store/backend";
import { makeFolder } from "@shedkit/store/node";
import { AgenticError } from "@shedkit/types";
import { ClassicLevel } from "classic-level";

export type Level = ClassicLevel<string, string>;

/** Between the parts of a key: no key and no session id may hold it. */
export const SEPARATOR = "\u0000";
/** The least that sorts after every key that begins with a part and its separator. */
export const AFTER = "\u0001";

const FORMAT_KEY = "format";
const FORMAT = 1;

/** Opens the database, or throws AgenticError `store`; it is retryable while another process has it open. */
export async function openLevel(folder: string): Promise<Level> {
  const db: Level = new ClassicLevel(folder, { keyEncoding: "utf8", valueEncoding: "utf8" });
  try {
    await makeFolder(folder);
    await db.open();
  } catch (error) {
    throw openError(error, folder);
  }
  const format = Number((await db.get(FORMAT_KEY)) ?? 0);
  if (format > FORMAT) {
    await db.close();
    throw new AgenticError("store", `${folder} has format ${format}; this release reads ${FORMAT}. Update @shedkit.`, {
      store: "level",
      operation: "open",
    });
  }
  if (format === 0) await db.put(FORMAT_KEY, `${FORMAT}`);
  return db;
}

/** Whether an error says that another process has the database open. */
export function isLocked(error: unknown): boolean {
  return codesOf(error).includes("LEVEL_LOCKED");
}

function openError(error: unknown, folder: string): AgenticError {
  const details = { store: "level", operation: "open" };
  if (isLocked(error)) {
    const message = `${folder} is open in another process, and LevelDB allows one. Close it there, or try again later.`;
    return new AgenticError("store", message, details, { cause: error, retryable: true });
  }
  if (codesOf(error).includes("LEVEL_CORRUPTION")) {
    const message = `${folder} is damaged (${(error as Error).cause}). ClassicLevel.repair(folder) saves what can be saved.`;
    return new AgenticError("store", message, details, { cause: error });
  }
  const cause = (error as { cause?: unknown }).cause;
  return storeError(cause instanceof Error ? cause : error, "level", "open");
}

function codesOf(error: unknown): (string | undefined)[] {
  const codes: (string | undefined)[] = [];
  for (let at = error as { code?: string; cause?: unknown } | undefined; at; at = at.cause as typeof at) {
    codes.push(at.code);
  }
  return codes;
}
