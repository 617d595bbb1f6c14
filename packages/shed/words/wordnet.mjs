import { readFileSync } from "node:fs";
import { join } from "node:path";
import { wordsOf } from "../src/search/words.ts";
import { stem, stemsOf } from "./stems.mjs";

const PARTS = { 1: "n", 2: "v", 3: "a", 4: "r", 5: "a" };

/** WordNet's synsets: their words with how often a text uses them so, their definition, examples and relations. */
export function readWordNet(folder) {
  const uses = new Map();
  for (const line of readFileSync(join(folder, "index.sense"), "utf8").split("\n")) {
    const [key, offset, sense, count] = line.split(" ");
    if (count === undefined) continue;
    const [word, rest] = key.split("%");
    uses.set(`${word}|${PARTS[rest[0]]}${offset}`, { sense: Number(sense), count: Number(count) });
  }
  const synsets = new Map();
  for (const [file, part] of [
    ["noun", "n"],
    ["verb", "v"],
    ["adj", "a"],
    ["adv", "r"],
  ]) {
    for (const line of readFileSync(join(folder, `data.${file}`), "utf8").split("\n")) {
      if (line === "" || line.startsWith("  ")) continue;
      const synset = readSynset(line, part, uses);
      synsets.set(synset.id, synset);
    }
  }
  return synsets;
}

function readSynset(line, part, uses) {
  const [head, gloss = ""] = line.split(" | ");
  const fields = head.split(" ");
  const id = `${part}${fields[0]}`;
  const words = [];
  let at = 4;
  for (let left = Number.parseInt(fields[3], 16); left > 0; left--, at += 2) {
    const word = fields[at].replace(/\(.*\)/, "");
    const { sense = 9, count = 0 } = uses.get(`${word.toLowerCase()}|${id}`) ?? {};
    words.push({ stems: wordsOf(word.replaceAll("_", " ")).map(stem), sense, count });
  }
  const relations = [];
  for (let left = Number(fields[at++]); left > 0; left--, at += 4) {
    relations.push({ kind: fields[at], to: `${fields[at + 2]}${fields[at + 1]}` });
  }
  const examples = Array.from(gloss.matchAll(/"([^"]*)"/g), ([, text]) => text).join(" ");
  return { id, words, relations, definition: stemsOf(gloss.replace(/"[^"]*"/g, " ")), examples: stemsOf(examples) };
}
