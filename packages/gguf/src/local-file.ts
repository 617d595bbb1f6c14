import { readdir, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileError, modelError, systemCode } from "./error.js";
import { type GgufHeader, readGgufHeader } from "./header.js";
import { shardNames, shardOf } from "./shards.js";

/** A GGUF model on this machine that was looked at and found whole. */
export interface LocalGguf {
  /** The file to load: the first one of a split model. */
  path: string;
  /** Every file of the model, in order. */
  files: readonly string[];
  /** Of all files together. */
  bytes: number;
  /** Of every file, in order. */
  headers: readonly GgufHeader[];
}

/**
 * Looks at a `.gguf` before anything loads it: it is there, it is a file, it begins like a GGUF file, its header can be
 * read, and every weight that the header promises is inside it; of a split model (`-00001-of-00003`) all parts are.
 * Throws AgenticError `provider` whose text says what was wrong and what to do.
 */
export async function checkGgufFile(
  path: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<LocalGguf> {
  const given = await statFile(path);
  const files = shardNames(path);
  const [first = path] = files;
  const headers: GgufHeader[] = [];
  let bytes = 0;
  for (const file of files) {
    const size = file === path ? given : await shardSize(file, path);
    headers.push(await checkOne(file, size, options.signal));
    bytes += size;
  }
  const parts = headers[0]?.split?.count ?? 1;
  if (parts > 1 && !shardOf(path)) {
    throw modelError(
      "missingShard",
      `${path} is one of the ${parts} parts of a split model, under another name; ` +
        "the parts must be named NAME-00001-of-00003.gguf and so on, as they were uploaded.",
    );
  }
  return { path: first, files, bytes, headers };
}

async function checkOne(path: string, size: number, signal: AbortSignal | undefined): Promise<GgufHeader> {
  const header = await readGgufHeader(path, { signal });
  if (header.kind !== "model") {
    throw modelError(
      "notAModel",
      `${path} is no language model but a ${KINDS[header.kind] ?? header.kind}; give the model's own file.`,
    );
  }
  const least = header.dataEnd ?? header.dataOffset;
  if (size < least) {
    throw modelError(
      "truncated",
      `${path} is cut short: ${size} bytes of at least ${least}. Delete it and fetch it again.`,
    );
  }
  // A split model may keep its vocabulary in a first part without weights.
  if (header.tensors.length === 0 && !header.split) {
    throw modelError("notAModel", `${path} holds no weights, only a header; give the model's own file.`);
  }
  return header;
}

const KINDS: { [kind: string]: string } = {
  adapter: "LoRA adapter",
  mmproj: "projector for images",
  imatrix: "importance matrix",
};

async function statFile(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw modelError("isDirectory", `${path} is a folder; ${await ggufFilesIn(path)}`);
    if (!found.isFile()) throw modelError("notReadable", `${path} is not a regular file.`);
    return found.size;
  } catch (error) {
    throw fileError(path, error);
  }
}

async function shardSize(path: string, given: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw fileError(path, error);
    throw modelError(
      "missingShard",
      `${basename(given)} is a part of a split model, and ${basename(path)} is missing in ${dirname(path)}; all parts are needed.`,
      { cause: error },
    );
  }
}

async function ggufFilesIn(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /\.gguf$/i.test(name)).sort();
  if (names.length === 0) return "there is no .gguf file in it.";
  const shown = names.slice(0, 5).join(", ");
  return `give one of its files: ${shown}${names.length > 5 ? `, and ${names.length - 5} more` : ""}.`;
}
