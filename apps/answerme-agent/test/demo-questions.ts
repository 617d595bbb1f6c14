import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A question, the files it is about, and how its answer is told right. */
export interface DemoQuestion {
  kind: string;
  question: string;
  files: { [path: string]: string };
  /** Said before, each in a turn of its own. */
  before?: readonly string[];
  /** What the answer must say, as a whole word. */
  says: string;
  /** What the folder must hold afterwards. */
  wrote?: { path: string; content: string };
  /** What must have been remembered, in a note of its own. */
  notes?: string;
}

/** Numbers in [0, 1), the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const WORDS = (
  "amber anchor apple arrow autumn badge basket beacon birch bottle bridge bronze button cabin candle canvas castle cedar " +
  "circle clover cobalt copper coral cotton crystal daisy delta desert diamond dragon eagle echo ember falcon feather " +
  "fern flint forest fossil garden ginger glacier granite harbor hazel helium hollow ivory jasmine jungle kettle ladder " +
  "lagoon lantern lemon lily linen lotus magnet maple marble meadow mellow mint mirror monsoon nectar nickel ocean olive " +
  "onyx opal orbit orchid otter pebble pepper pine planet plum polar prism quartz quill raven reef ribbon river rocket " +
  "saddle saffron sage sapphire shadow silver slate spruce summit sunset tangle thistle thunder tiger timber topaz tulip " +
  "turtle umber valley velvet violet walnut willow winter zephyr"
).split(" ");
const INI_KEYS =
  "port host timeout retries mode level theme region owner limit color path user interval cache size".split(" ");
const ENV_KEYS = "PORT HOST REGION CACHE WORKERS MODE TOKEN_NAME LEVEL TIMEOUT DATABASE QUEUE THEME OWNER STAGE".split(
  " ",
);
const TOML_KEYS = "name version edition license authors description target profile channel output limit width".split(
  " ",
);
const SECTIONS = "server package project client build database".split(" ");
const LICENSES = ["MIT", "ISC", "Apache-2.0", "BSD-3-Clause"];

class Maker {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  some<T>(list: readonly T[], count: number): T[] {
    const left = [...list];
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(this.below(left.length), 1)[0] as T);
  }

  word(): string {
    return this.one(WORDS);
  }

  version(): string {
    return `${this.below(10)}.${this.below(20)}.${this.below(10)}`;
  }

  number(): string {
    return String(1 + this.below(10 ** (1 + this.below(4))));
  }

  value(): string {
    const kind = this.below(6);
    if (kind < 2) return this.word();
    if (kind < 4) return this.number();
    return kind === 4 ? this.version() : `${this.word()}-${this.word()}`;
  }
}

interface MadeFile {
  name: string;
  text: string;
  entries: [key: string, value: string][];
}

function packageJson(make: Maker): MadeFile {
  const all: [string, string][] = [
    ["name", `${make.word()}-${make.word()}`],
    ["version", make.version()],
    ["license", make.one(LICENSES)],
    ["author", make.word()],
    ["main", `${make.word()}.js`],
    ["type", make.one(["module", "commonjs"])],
    ["description", `The ${make.word()} ${make.word()}`],
    ["homepage", `https://${make.word()}.dev`],
  ];
  const entries = [...all.slice(0, 2), ...make.some(all.slice(2), 1 + make.below(6))];
  return { name: "package.json", text: `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`, entries };
}

function pairs(make: Maker, keys: readonly string[]): [string, string][] {
  return make.some(keys, 3 + make.below(6)).map((key) => [key, make.value()]);
}

function ini(make: Maker): MadeFile {
  const entries = pairs(make, INI_KEYS);
  const lines = entries.map(([key, value]) => `${key}=${value}`);
  const name = make.one(["config.ini", "settings.ini", `${make.word()}.ini`]);
  return { name, text: `[${make.one(SECTIONS)}]\n${lines.join("\n")}\n`, entries };
}

function env(make: Maker): MadeFile {
  const entries = pairs(make, ENV_KEYS);
  return { name: ".env", text: `${entries.map(([key, value]) => `${key}=${value}`).join("\n")}\n`, entries };
}

function toml(make: Maker): MadeFile {
  const entries = pairs(make, TOML_KEYS);
  const lines = entries.map(([key, value]) => `${key} = ${/^\d+$/.test(value) ? value : `"${value}"`}`);
  const name = make.one(["Cargo.toml", "pyproject.toml", `${make.word()}.toml`]);
  return { name, text: `[${make.one(SECTIONS)}]\n${lines.join("\n")}\n`, entries };
}

/** Questions about values in made files of up to 8 entries, a kind of file after the other. */
export function fileQuestions(seed: number, count: number): DemoQuestion[] {
  const make = new Maker(seeded(seed));
  const kinds = [packageJson, ini, env, toml];
  return Array.from({ length: count }, (_, i) => {
    const { name, text, entries } = (kinds[i % kinds.length] as typeof ini)(make);
    const [key, value] = make.one(entries);
    return {
      kind: name.startsWith(".") ? "env" : (name.split(".").at(-1) ?? ""),
      question: `What is the ${key} in ${name}?`,
      files: { [name]: text },
      says: value,
    };
  });
}

/** Questions about headings and first lines, and for a word in a file, a kind after the other. */
export function ownQuestions(seed: number, count: number): DemoQuestion[] {
  const make = new Maker(seeded(seed));
  const kinds = [heading, firstLine, write];
  return Array.from({ length: count }, (_, i) => (kinds[i % kinds.length] as typeof heading)(make));
}

function heading(make: Maker): DemoQuestion {
  const title = make.word();
  return {
    kind: "heading",
    question: "What is the first heading of README.md?",
    files: { "README.md": `# ${title}\n\nA ${make.word()} ${make.word()}.\n\n## Usage\n\nRead it.\n` },
    says: title,
  };
}

function firstLine(make: Maker): DemoQuestion {
  const text = Array.from({ length: 3 + make.below(3) }, () => `${make.word()} ${make.word()}`);
  const name = `${make.word()}.txt`;
  return {
    kind: "first line",
    question: `What is the first line of ${name}?`,
    files: { [name]: `${text.join("\n")}\n` },
    says: text[0] ?? "",
  };
}

function write(make: Maker): DemoQuestion {
  const text = make.word();
  return {
    kind: "write",
    question: `Write ${text} to note.txt`,
    files: {},
    says: "note.txt",
    wrote: { path: "note.txt", content: text },
  };
}

/** Questions that are answered through the shell, the memory and the search. */
export function otherQuestions(seed: number): DemoQuestion[] {
  const make = new Maker(seeded(seed));
  const names = make.some(WORDS, 5);
  const listed = Object.fromEntries(names.map((name) => [`${name}.txt`, "\n"]));
  const [a, b, c, d] = [make.below(200), 1 + make.below(200), make.below(90), 1 + make.below(90)];
  const [pet, place, symbol] = [make.word(), make.word(), `${make.word()}_${make.word()}`];
  const boat = `Remember that my boat is ${place}.`;
  return [
    { kind: "count", question: "How many files are here?", files: listed, says: String(names.length) },
    { kind: "count", question: "Count the files in docs", files: under("docs", listed), says: String(names.length) },
    { kind: "calculate", question: `What is ${a} * ${b}?`, files: {}, says: String(a * b) },
    { kind: "calculate", question: `What is ${c} + ${d}?`, files: {}, says: String(c + d) },
    { kind: "remember", question: `Remember that my cat is ${pet}.`, files: {}, says: pet, notes: pet },
    { kind: "recall", question: "What is my boat?", files: {}, before: [boat], says: place, notes: place },
    {
      kind: "search",
      question: `Where is ${symbol} defined?`,
      files: { "src/main.ts": `function ${symbol}() {\n` },
      says: "src/main.ts",
    },
  ];
}

function under(folder: string, files: { [path: string]: string }): { [path: string]: string } {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}

export function writeFiles(root: string, files: { [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Whether the answer says the value, as a word of its own. */
export function isRight(answer: string, value: string): boolean {
  const escaped = value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`(?<![\\w.-])${escaped}(?![\\w-]|\\.\\w)`).test(answer);
}
