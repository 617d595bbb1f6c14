import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AgenticError } from "@shedkit/types";
import { expect, it } from "vitest";
import { fetchRepositoryFiles } from "../src/index.js";
import { failureOf, hubForTest, tempFolder, transfer } from "./support/hub.js";

const text = (content: string) => new TextEncoder().encode(content);
const files = {
  "config.json": { content: text("{}"), storage: "git" as const },
  "onnx/model.onnx": text("weights ".repeat(20_000)),
  "onnx/other.onnx": text("others"),
};
const choose = (listed: readonly { path: string }[]) =>
  listed.map(({ path }) => path).filter((path) => !path.includes("other"));

it("brings the chosen files into one folder, and says how far all of them are", async () => {
  const hub = await hubForTest();
  const cacheDir = await tempFolder();
  hub.addModel("acme/Tiny", files);
  const done: number[] = [];
  const got = await fetchRepositoryFiles("acme/tiny", {
    choose,
    hub: { endpoint: hub.url, cacheDir, transfer },
    onEvent: (event) => event.type === "downloading" && done.push(event.bytesDone),
  });
  expect(got.paths).toEqual(["config.json", "onnx/model.onnx"]);
  expect(readFileSync(join(got.folder, "config.json"), "utf8")).toBe("{}");
  expect(readFileSync(join(got.folder, "onnx/model.onnx"))).toHaveLength(160_000);
  expect(done.at(-1)).toBe(got.bytes);
  expect(hub.bytesSent).toBeLessThan(160_100); // nothing of the others
});

it("does with the cache offline, and where the hub cannot be reached", async () => {
  const hub = await hubForTest();
  const cacheDir = await tempFolder();
  hub.addModel("acme/Tiny", files);
  const settings = { endpoint: hub.url, cacheDir, transfer };
  const { folder } = await fetchRepositoryFiles("acme/Tiny", { choose, hub: settings });
  expect((await fetchRepositoryFiles("acme/Tiny", { choose, hub: { ...settings, offline: true } })).folder).toBe(
    folder,
  );
  await hub.close();
  expect((await fetchRepositoryFiles("acme/Tiny", { choose, hub: settings })).folder).toBe(folder);
  const missing = { choose, hub: { ...settings, offline: true } };
  expect(await failureOf(fetchRepositoryFiles("acme/Other", missing))).toMatchObject({ problem: "offline" });
});

it("throws on what the choice throws", async () => {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny", files);
  const choice = () => {
    throw new AgenticError("provider", "no weights", {});
  };
  const settings = { endpoint: hub.url, cacheDir: await tempFolder(), transfer };
  await expect(fetchRepositoryFiles("acme/Tiny", { choose: choice, hub: settings })).rejects.toThrow("no weights");
});
