import { AgenticError, newId, type SessionRecord } from "@shedkit/types";
import type { BlobStore } from "../contract.js";
import { textOfRecord } from "../record-text.js";
import { foldText, indexedText } from "./terms.js";

/** How much of a batch goes into one statement, in characters: D1 takes two megabytes in a value. */
const LIST_LENGTH = 500_000;

/** A record on its way into the table. */
export interface Row {
  /** The record as JSON, or null where it lies in a blob. */
  body: string | null;
  blob: string | null;
  /** What a listing by text looks at. */
  words: string | null;
  /** What the search index is made of. */
  terms: string | null;
}

/** Records as rows. Those longer than `inlineLength` characters are put into `blobs`, if there are any. */
export async function rowsOf(
  records: readonly SessionRecord[],
  bodies: readonly string[],
  blobs: BlobStore | undefined,
  inlineLength: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [i, record] of records.entries()) {
    const body = bodies[i] ?? "";
    const text = textOfRecord(record);
    const row: Row = { body, blob: null, words: text === "" ? null : foldText(text), terms: indexedText(text) || null };
    if (blobs !== undefined && body.length > inlineLength) {
      row.blob = `records/${newId()}`;
      row.body = null;
      await blobs.put(row.blob, new TextEncoder().encode(body));
    }
    rows.push(row);
  }
  return rows;
}

/** Rows numbered after `before`, as JSON lists of [seq, body, blob, words, terms]. */
export function listsOf(rows: readonly Row[], before: number): string[] {
  const lists: string[] = [];
  let list: string[] = [];
  let length = 0;
  for (const [i, { body, blob, words, terms }] of rows.entries()) {
    const item = JSON.stringify([before + i + 1, body, blob, words, terms]);
    if (list.length > 0 && length + item.length > LIST_LENGTH) {
      lists.push(`[${list.join(",")}]`);
      list = [];
      length = 0;
    }
    list.push(item);
    length += item.length;
  }
  lists.push(`[${list.join(",")}]`);
  return lists;
}

/** The record that lies in a blob. */
export async function recordOf(seq: number, blob: string, blobs: BlobStore | undefined): Promise<SessionRecord> {
  const data = await blobs?.get(blob);
  if (data === undefined) {
    throw new AgenticError(
      "store",
      `Record ${seq} lies in the blob "${blob}", which ${blobs === undefined ? "needs a blob store" : "is gone"}.`,
      { store: "sql", operation: "read" },
    );
  }
  return JSON.parse(new TextDecoder().decode(data)) as SessionRecord;
}
