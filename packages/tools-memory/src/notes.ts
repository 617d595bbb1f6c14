/** A part of a note that fits what was asked. */
export interface NoteHit {
  path: string;
  /** First and last line, from 1. */
  from: number;
  to: number;
  /** Between 0 and 1. */
  score: number;
  text: string;
  /** When the note was changed last, in milliseconds since the epoch. */
  changedAt?: number | undefined;
}

/** Notes that outlive sessions: a folder of files (`fileNotes`), or a memory elsewhere. */
export interface MemoryNotes {
  /** The best first. */
  search(query: string, options: { limit: number; signal: AbortSignal }): Promise<readonly NoteHit[]>;
  /** The whole of a note; undefined where there is none. */
  get(path: string, options: { signal: AbortSignal }): Promise<string | undefined>;
}
