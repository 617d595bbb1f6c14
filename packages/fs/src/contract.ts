/** What stands at a path. */
export type FileType = "file" | "directory" | "symlink" | "other";

/** What a file system knows of an entry without reading it. */
export interface FileStat {
  type: FileType;
  /** Bytes. */
  size: number;
  /** When the content last changed, in milliseconds since the epoch. */
  mtimeMs: number;
  /** Permission bits, e.g. `0o644`. */
  mode: number;
  /** Changes whenever the content does. Compare for equality only. */
  version: string;
}

/** An entry of a listing. */
export interface DirEntry {
  /** The last part of the path. */
  name: string;
  /** Of the entry itself: a symbolic link is a `symlink`. */
  type: FileType;
}

/** What every operation takes. */
export interface FsOptions {
  signal?: AbortSignal | undefined;
}

/** Which bytes of a file are read. Default: all. */
export interface ReadOptions extends FsOptions {
  /** First byte. Default: 0. */
  start?: number | undefined;
  /** The byte after the last. Default, and at most: the size of the file. */
  end?: number | undefined;
}

/** How a file is written. */
export interface WriteOptions extends FsOptions {
  /** Permission bits of a new file. Default: what the platform gives. An existing file keeps its own. */
  mode?: number | undefined;
  /**
   * Writes only if the file still has this `version`; `null`: only if nothing stands there. Otherwise FsError
   * `changed` or `exists`, and nothing is written.
   */
  ifVersion?: string | null | undefined;
}

/**
 * A file system below one root folder. Paths are relative to the root, with `/` between their parts; absolute paths
 * inside the root are accepted; nothing outside it is reached, through `..` or symbolic links either.
 *
 * Everything rejects with {@link FsError}, or with the reason of an aborted `signal`.
 */
export interface FileSystem {
  /** The root, as an absolute path: for messages, and to take absolute paths. */
  readonly root: string;
  /**
   * The path relative to the root, cleaned of `.`, `..` and doubled `/`; `"."` for the root itself. By its text alone.
   * Throws FsError `outside`, `invalidPath` or `nameTooLong`.
   */
  resolve(path: string): string;
  /** The canonical path relative to the root, every symbolic link followed. */
  realpath(path: string, options?: FsOptions): Promise<string>;
  /** Follows symbolic links. */
  stat(path: string, options?: FsOptions): Promise<FileStat>;
  /** Does not follow a symbolic link that stands at the path itself. */
  lstat(path: string, options?: FsOptions): Promise<FileStat>;
  /** The bytes of a file, or a range of them. */
  readFile(path: string, options?: ReadOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** The bytes of a file in pieces of at most 256 KiB, from one opened file: a replacement meanwhile is not seen. */
  readChunks(path: string, options?: ReadOptions): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /**
   * Writes a whole file: after it, or after a crash at any moment, the path holds the old content or the new one. Follows
   * a symbolic link; keeps the mode of an existing file; the folder must exist.
   */
  writeFile(path: string, data: Uint8Array | string, options?: WriteOptions): Promise<FileStat>;
  /** Makes a folder. With `recursive` also its missing parents, and an existing one is no error. */
  mkdir(path: string, options?: FsOptions & { recursive?: boolean | undefined }): Promise<void>;
  /** The entries of a folder, sorted by name (by code units). */
  readdir(path: string, options?: FsOptions): Promise<DirEntry[]>;
  /** Moves a file or folder. An existing target is refused with `exists`; `overwrite` replaces it if it is a file. */
  rename(from: string, to: string, options?: FsOptions & { overwrite?: boolean | undefined }): Promise<void>;
  /** Removes a file, a symbolic link (not its target) or an empty folder; with `recursive` a folder and all in it. */
  remove(path: string, options?: FsOptions & { recursive?: boolean | undefined }): Promise<void>;
}

/** The most bytes that `readChunks` gives at once. */
export const CHUNK_BYTES = 256 * 1024;
