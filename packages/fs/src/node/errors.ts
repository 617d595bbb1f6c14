import { FsError, type FsErrorReason } from "../error.js";
import { quote } from "../path.js";

/** What happened, said for the path as the caller gave it; errors of other kinds as they are. */
export function fromNodeError(error: unknown, path: string): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (error instanceof FsError || code === undefined) return error;
  const known = KNOWN[code];
  if (known) return new FsError(known[0], path, known[1](quote(path)), error);
  return /^E[A-Z0-9]+$/.test(code)
    ? new FsError("io", path, `${quote(path)}: the file system answered ${code}.`, error)
    : error;
}

const KNOWN: { [code: string]: [reason: FsErrorReason, text: (path: string) => string] } = {
  ENOENT: ["notFound", (path) => `There is no file or folder ${path}.`],
  EEXIST: ["exists", (path) => `${path} exists already.`],
  EISDIR: ["isADirectory", (path) => `${path} is a folder, not a file.`],
  ENOTEMPTY: ["notEmpty", (path) => `The folder ${path} is not empty.`],
  EACCES: ["permission", (path) => `${path}: the operating system gives no permission for that.`],
  EPERM: ["permission", (path) => `${path}: the operating system gives no permission for that.`],
  EROFS: ["permission", (path) => `${path} is on a read-only file system.`],
  ENAMETOOLONG: ["nameTooLong", (path) => `The path ${path} is too long.`],
  ELOOP: ["invalidPath", (path) => `${path} leads through symbolic links that run in a circle.`],
  ENOSPC: ["noSpace", (path) => `${path}: no space is left on the disk.`],
  EDQUOT: ["noSpace", (path) => `${path}: the disk quota is used up.`],
};
