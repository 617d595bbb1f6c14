import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { demoModelPath, demoModelSha256, demoModelSize, demoModelSummary } from "../src/index.js";

const readme = readFileSync(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8");
const card = readFileSync(fileURLToPath(new URL("../MODEL_CARD.md", import.meta.url)), "utf8");

it("ships the very file that the constants describe", () => {
  const bytes = readFileSync(demoModelPath);
  expect(bytes.subarray(0, 4).toString("latin1")).toBe("GGUF");
  expect(bytes.length).toBe(demoModelSize);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(demoModelSha256);
});

it("names the file's checksum in the model card", () => {
  expect(card).toContain(demoModelSha256);
});

it("says that it is often wrong wherever it says what it can do", () => {
  for (const text of [readme, card, demoModelSummary]) expect(text).toMatch(/often wrong/);
});
