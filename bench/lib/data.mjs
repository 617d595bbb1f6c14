import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where `pnpm bench:data` puts them. */
export const DATA = join(import.meta.dirname, "..", ".data");

/** What a folder of data holds. */
export const FILES = [
  "metatool-tools.json",
  "metatool-queries.jsonl",
  "metatool-queries-two-tools.jsonl",
  "bfcl-tools.json",
  "bfcl-queries.jsonl",
];

/** The sets of tools and queries in a folder; see README.md for its layout. */
export function loadSets(folder) {
  const json = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
  const lines = (name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line));
  const metatool = json("metatool-tools.json").map(asTool);
  const queries = lines("metatool-queries.jsonl");
  return [
    { name: "MetaTool, lines 1-1000", tools: metatool, queries: queries.slice(0, 1000) },
    { name: "MetaTool, the rest", tools: metatool, queries: queries.slice(1000) },
    { name: "MetaTool, two tools", tools: metatool, queries: lines("metatool-queries-two-tools.jsonl") },
    { name: "BFCL", tools: json("bfcl-tools.json").map(asTool), queries: lines("bfcl-queries.jsonl") },
  ];
}

function asTool({ name, description, parameters = { type: "object" } }) {
  return { type: "single", definition: { name, category: "", description, arguments: parameters } };
}

/** `count` tools made of the words of others, with descriptions and arguments as long as theirs. */
export function shuffledTools(tools, count, random) {
  const words = tools.flatMap(({ definition }) => definition.description.split(/\s+/));
  const pick = (list) => list[Math.floor(random() * list.length)];
  const text = (length) => Array.from({ length }, () => pick(words)).join(" ");
  return Array.from({ length: count }, (_, i) => {
    const { definition } = pick(tools);
    const properties = Object.entries(definition.arguments.properties ?? {}).map(([key, property]) => [
      key,
      { ...property, description: text(property?.description?.split(/\s+/).length ?? 3) },
    ]);
    return {
      type: "single",
      definition: {
        name: `${pick(words)}_${pick(words)}_${i}`,
        category: pick(words),
        description: text(definition.description.split(/\s+/).length),
        arguments: { type: "object", properties: Object.fromEntries(properties) },
      },
    };
  });
}

/** Numbers from 0 up to 1, the same ones in every run (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
