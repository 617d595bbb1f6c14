import type { FileSystem } from "@shedkit/fs";
import { NodeFileSystem } from "@shedkit/fs/node";

/**
 * The folder on the disk that a file system stands for; undefined where there is none. Of a class of its own on top of
 * `NodeFileSystem` nobody knows whether the disk holds what it shows.
 */
export function realFolder(fs: FileSystem): string | undefined {
  const isReal = fs instanceof NodeFileSystem && Object.getPrototypeOf(fs) === NodeFileSystem.prototype;
  return isReal ? fs.root : undefined;
}
