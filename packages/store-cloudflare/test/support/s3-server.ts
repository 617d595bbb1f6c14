import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { R2S3Options } from "../../src/index.js";

interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

type S3rverClass = new (options: {
  address: string;
  port: number;
  silent: boolean;
  directory: string;
  configureBuckets: { name: string; configs: string[] }[];
}) => S3rver;

const require = createRequire(import.meta.url);
const Server = require("@20minutes/s3rver") as S3rverClass;

/** An S3 server with one bucket; it checks signatures. */
export async function s3Server(): Promise<R2S3Options> {
  const directory = await mkdtemp(join(tmpdir(), "shedkit-s3-"));
  const buckets = [{ name: "bucket", configs: [] }];
  const server = new Server({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: buckets });
  const { port } = await server.run();
  onTestFinished(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });
  const endpoint = `http://127.0.0.1:${port}`;
  return { endpoint, bucket: "bucket", accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
}
