import type { DocumentStore, StoredRecord } from "@shedkit/store";
import type { SessionId } from "@shedkit/types";

const CHUNK = 200;

/** Where in a log a record is; looked for from the end. Undefined where the log has none of that id. */
export async function placeOfRecord(
  store: DocumentStore,
  session: SessionId,
  recordId: string,
): Promise<number | undefined> {
  for (let before: number | undefined; before === undefined || before > 1; ) {
    const chunk = await readAll(store.read(session, { before, last: CHUNK }));
    const found = chunk.find(({ record }) => record.id === recordId);
    if (found !== undefined || chunk.length === 0) return found?.seq;
    before = chunk[0]?.seq;
  }
  return undefined;
}

export async function readAll(records: AsyncIterable<StoredRecord>): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}
