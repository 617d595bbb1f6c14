import { open } from "node:fs/promises";
import { cancelled, fileError, modelError } from "./error.js";

/** Bytes of a file, wherever it is. */
export interface ByteSource {
  /** Of the whole file. */
  size: number;
  /** The bytes from `offset`: `length` of them, fewer at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A file of this machine. */
export async function fileSource(path: string): Promise<ByteSource> {
  const file = await open(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  const wrapped = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw fileError(path, error);
    }
  };
  const { size } = await wrapped(file.stat());
  return {
    size,
    async read(offset, length) {
      const { buffer, bytesRead } = await wrapped(file.read(new Uint8Array(length), 0, length, offset));
      return buffer.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}

/** How a file is read over HTTP. */
export interface HttpSourceOptions {
  token?: string | undefined;
  fetch?: typeof fetch | undefined;
  signal?: AbortSignal | undefined;
}

/** A file behind an address, read by requests for ranges: a web page in its place is refused. */
export async function httpSource(url: string, options: HttpSourceOptions): Promise<ByteSource> {
  const { signal } = options;
  const read = async (offset: number, length: number): Promise<{ bytes: Uint8Array; size: number }> => {
    const headers = new Headers({ Range: `bytes=${offset}-${offset + length - 1}` });
    if (options.token !== undefined) headers.set("Authorization", `Bearer ${options.token}`);
    try {
      const response = await (options.fetch ?? fetch)(url, { headers, signal: signal ?? null });
      const [, first, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "") ?? [];
      if (response.status === 206 && Number(first) === offset) {
        return { bytes: new Uint8Array(await response.arrayBuffer()), size: Number(size) };
      }
      await response.body?.cancel();
      const { status } = response;
      const text = `${url} answered ${status} to a request for a part of the file, 206 was wanted.`;
      throw modelError("hubError", text, { status });
    } catch (error) {
      if (signal?.aborted) throw cancelled(signal, `Reading the header of ${url} was stopped.`);
      if (error instanceof TypeError) {
        const text = `${new URL(url).host} could not be reached; check the network.`;
        throw modelError("unreachable", text, { cause: error, retryable: true });
      }
      throw error;
    }
  };
  const first = await read(0, FIRST_BYTES);
  return {
    size: first.size,
    async read(offset, length) {
      if (offset < first.bytes.length) return first.bytes.subarray(offset);
      return offset >= first.size ? new Uint8Array() : (await read(offset, length)).bytes;
    },
    close: async () => undefined,
  };
}

/** Most headers without their vocabulary are smaller. */
const FIRST_BYTES = 1024 * 1024;
