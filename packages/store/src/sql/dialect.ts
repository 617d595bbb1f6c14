import type { QueryStore } from "../contract.js";

/** What differs between the databases. */
export interface Dialect {
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly now: string;
  readonly migrations: readonly (readonly string[])[];
  /** Takes the session, and a JSON array of [seq, body, blob, words, terms]. */
  readonly insert: string;
  /** Fills the index from the same list; takes the session, the list, and the session. Absent where `insert` does it. */
  readonly index?: string | undefined;
  /** Takes the session. */
  readonly unindex?: string | undefined;
  /** The records behind a place, see {@link READ}. Takes the session, the place, the last one, and how many at most. */
  readonly read: string;
  /** Takes the query, the session and the limit. */
  readonly search: string;
  /** A condition on a session `s`, which takes the folded text. */
  readonly mentions: string;
  /** The query of phrases, any of which may be there. */
  match(session: string, phrases: readonly string[]): string;
  /** The session as the index has it. */
  token(session: string): string;
}

const SESSIONS = (text: string, integer: string): string => `CREATE TABLE shedkit_sessions (
  id ${text} PRIMARY KEY, fence ${integer} NOT NULL, owner TEXT, records ${integer} NOT NULL, title TEXT,
  created_at ${integer}, updated_at ${integer}, parent_session TEXT, parent_record TEXT)`;
/**
 * Records in order, of which up to 64 are one row, since a row costs more than what is in it; less where one is long: D1
 * takes two megabytes in a value. For a record that lies in a blob stands the blob's name, as JSON.
 */
const READ = (join: string, quote: string, least: string, most: string): string => `WITH page AS (
  SELECT seq, body, blob FROM shedkit_records WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?)
  SELECT ${join}(coalesce(body, ${quote}), ',' ORDER BY seq) AS records FROM page
  GROUP BY seq / (SELECT ${most}(1, ${least}(64, 500000 / coalesce(max(length(body)), 1))) FROM page)
  ORDER BY min(seq)`;
const NEWEST = "CREATE INDEX shedkit_sessions_newest ON shedkit_sessions (updated_at, id)";
const OWNERS = (integer: string): string =>
  `CREATE TABLE shedkit_owners (id TEXT PRIMARY KEY, expires_at ${integer} NOT NULL)`;

const sqlite: Dialect = {
  now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
  migrations: [
    [
      SESSIONS("TEXT", "INTEGER"),
      NEWEST,
      OWNERS("INTEGER"),
      `CREATE TABLE shedkit_records (n INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT,
        blob TEXT, words TEXT, UNIQUE (session, seq))`,
      // Only the index: the words are in shedkit_records already.
      `CREATE VIRTUAL TABLE shedkit_words USING fts5(session, terms, content='', contentless_delete=1,
        tokenize='unicode61')`,
    ],
  ],
  insert: `INSERT INTO shedkit_records (session, seq, body, blob, words)
    SELECT ?, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
      json_extract(value, '$[3]') FROM json_each(?)`,
  index: `INSERT INTO shedkit_words (rowid, session, terms)
    SELECT r.n, ?, json_extract(e.value, '$[4]') FROM json_each(?) e
    CROSS JOIN shedkit_records r ON r.session = ? AND r.seq = json_extract(e.value, '$[0]')
    WHERE json_extract(e.value, '$[4]') IS NOT NULL`,
  unindex: "DELETE FROM shedkit_words WHERE rowid IN (SELECT n FROM shedkit_records WHERE session = ?)",
  read: READ("group_concat", "json_quote(blob)", "min", "max"),
  search: `SELECT r.seq AS seq, -bm25(shedkit_words, 0.0, 1.0) AS score
    FROM shedkit_words JOIN shedkit_records r ON r.n = shedkit_words.rowid
    WHERE shedkit_words MATCH ? AND r.session = ? ORDER BY score DESC, seq DESC LIMIT ?`,
  mentions: "EXISTS (SELECT 1 FROM shedkit_records r WHERE r.session = s.id AND instr(r.words, ?) > 0)",
  match: (session, phrases) =>
    `session : "${sqlite.token(session)}" AND terms : (${phrases.map((phrase) => `"${phrase}"${isBeginning(phrase) ? "*" : ""}`).join(" OR ")})`,
  token: (session) =>
    Array.from(new TextEncoder().encode(session), (byte) => byte.toString(16).padStart(2, "0")).join(""),
};

const postgres: Dialect = {
  now: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
  migrations: [
    [
      SESSIONS('TEXT COLLATE "C"', "BIGINT"),
      NEWEST,
      OWNERS("BIGINT"),
      `CREATE TABLE shedkit_records (n BIGSERIAL PRIMARY KEY, session TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL,
        body TEXT, blob TEXT, words TEXT, terms TSVECTOR, UNIQUE (session, seq))`,
      "CREATE INDEX shedkit_records_terms ON shedkit_records USING GIN (terms)",
    ],
  ],
  insert: `INSERT INTO shedkit_records (session, seq, body, blob, words, terms)
    SELECT ?, CAST(value ->> 0 AS BIGINT), value ->> 1, value ->> 2, value ->> 3, to_tsvector('simple', value ->> 4)
    FROM json_array_elements(CAST(? AS JSON))`,
  read: READ("string_agg", "CAST(to_json(blob) AS TEXT)", "least", "greatest"),
  search: `SELECT seq, ts_rank(terms, query) AS score FROM shedkit_records, to_tsquery('simple', ?) query
    WHERE terms @@ query AND session = ? ORDER BY score DESC, seq DESC LIMIT ?`,
  mentions: "EXISTS (SELECT 1 FROM shedkit_records r WHERE r.session = s.id AND strpos(r.words, ?) > 0)",
  match: (_session, phrases) =>
    phrases
      .map(
        (phrase) =>
          `(${phrase
            .split(" ")
            .map((word) => `'${word}'${isBeginning(phrase) ? ":*" : ""}`)
            .join(" <-> ")})`,
      )
      .join(" | "),
  token: (session) => session,
};

/** A word of some length also finds longer ones that begin with it: endings differ. */
function isBeginning(phrase: string): boolean {
  return phrase.length >= 4 && !phrase.includes(" ");
}

/** The dialect that a storage speaks. */
export function dialectOf(storage: QueryStore): Dialect {
  return storage.dialect === "postgres" ? postgres : sqlite;
}
