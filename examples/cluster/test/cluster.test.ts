import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));
const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
const there = platforms.includes(`${process.platform}-${process.arch}`);
if (!there) console.log("There is no Restate server for this platform: the cluster is not started.");

it.skipIf(!there)("starts, answers in every session, and ends", { timeout: 240_000 }, async () => {
  const child = spawn(process.execPath, ["cluster.ts"], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: "", NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  const [code] = await once(child, "close");
  expect({ code, err: said.err }).toEqual({ code: 0, err: "" });
  expect(said.out.match(/^session-\d+: It is worker (1|2)\.$/gm)).toHaveLength(12);
});
