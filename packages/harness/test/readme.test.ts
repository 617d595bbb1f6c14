import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("tells to install all that its examples import", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const installed = [...readme.matchAll(/npm i ([^`#\n]+)/g)].flatMap(([, names = ""]) => names.trim().split(/\s+/));
  const imported = [...readme.matchAll(/from "(@[^/"]+\/[^/"]+|[^@/."][^/"]*)/g)].map(([, name]) => name ?? "");
  const packages = imported.filter((name) => !name.startsWith("node:"));
  expect(packages.length).toBeGreaterThan(0);
  expect(installed).toEqual(expect.arrayContaining(packages));
});
