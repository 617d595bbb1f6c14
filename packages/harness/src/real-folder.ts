import type { FileSystem } from "@shedkit/fs";

/** The folder on the disk that a file system stands for; undefined where there is none. */
export async function realFolder(fs: FileSystem): Promise<string | undefined> {
  const { NodeFileSystem } = await import("@shedkit/fs/node");
  return fs instanceof NodeFileSystem ? fs.root : undefined;
}
