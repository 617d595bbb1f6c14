// The data of the measurements of search and prompts: from a folder that has it, or from the public repositories it stands in.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { DATA, FILES } from "./lib/data.mjs";

const RAW = "https://raw.githubusercontent.com";
const METATOOL = `${RAW}/HowieHwong/MetaTool/e1029bcfdb1039aff6ce24b548920d8bc25b1c3d/dataset`;
const GORILLA = `${RAW}/ShishirPatil/gorilla/6ea57973c7a6097fd7c5915698c54c17c5b1b6c8`;
const BFCL = `${GORILLA}/berkeley-function-call-leaderboard/bfcl_eval/data`;
const BFCL_PARTS = ["multiple", "live_multiple"];
const TIMEOUT_MS = 60_000;

try {
  await main(process.argv[2]);
} catch (fault) {
  console.error(fault.message);
  process.exitCode = 1;
}

async function main(folder) {
  mkdirSync(DATA, { recursive: true });
  if (folder === undefined) await download();
  else take(folder);
  console.log(`The data is in ${relative(process.cwd(), DATA) || "."}. Now: pnpm bench shed-search context-cost`);
}

function take(folder) {
  const missing = FILES.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0)
    throw new Error(`${folder} has no ${missing.join(", ")}. bench/README.md says what is in them.`);
  for (const name of FILES) write(name, readFileSync(join(folder, name)));
}

async function download() {
  const [descriptions, csv, pairs] = await Promise.all(
    ["plugin_des.json", "data/all_clean_data.csv", "data/multi_tool_query_golden.json"].map((path) =>
      text(`${METATOOL}/${path}`),
    ),
  );
  const parts = await Promise.all(
    BFCL_PARTS.map(async (part) => {
      const [questions, answers] = await Promise.all(
        ["", "possible_answer/"].map((place) => text(`${BFCL}/${place}BFCL_v4_${part}.json`)),
      );
      return bfcl(questions, answers);
    }),
  );
  const sample = samples();
  const metatool = Object.entries(JSON.parse(descriptions)).map(([name, description]) => ({ name, description }));
  const two = JSON.parse(pairs).map(({ query, tool }) => ({ query, tools: tool }));
  const functions = new Map();
  for (const { tools } of parts)
    for (const tool of tools) if (!functions.has(tool.name)) functions.set(tool.name, tool);
  write("metatool-tools.json", JSON.stringify(metatool));
  write("metatool-queries.jsonl", sample("metatool", metatoolQueries(csv)));
  write("metatool-queries-two-tools.jsonl", sample("metatool-two-tools", two));
  write("bfcl-tools.json", JSON.stringify([...functions.values()]));
  write(
    "bfcl-queries.jsonl",
    sample(
      "bfcl",
      parts.flatMap(({ queries }) => queries),
    ),
  );
}

async function text(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return await response.text();
  } catch (fault) {
    const why = fault.cause?.code ?? fault.cause?.message ?? fault.message;
    throw new Error(`${url} could not be fetched (${why}). Without a network, give a folder: pnpm bench:data FOLDER`);
  }
}

/** Lines of `query,tool`; a query with commas or quotes stands in quotes. */
function metatoolQueries(csv) {
  const rows = csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n][^,\r\n]*)),([^,\r\n]+)\r?(?:\n|$)/g);
  const all = Array.from(rows, ([, quoted, plain, tool]) => ({
    query: quoted?.replaceAll('""', '"') ?? plain,
    tools: [tool],
  }));
  return all.slice(1); // the first names the columns
}

/** The functions that the questions come with, and the questions that ask one thing of one of them. */
function bfcl(questions, answers) {
  const parse = (all) => all.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line)]));
  const wanted = new Map(
    parse(answers).map(({ id, ground_truth }) => [id, ground_truth.flatMap((each) => Object.keys(each))]),
  );
  const tools = [];
  const queries = [];
  for (const { id, question, function: functions } of parse(questions)) {
    for (const { name, description, parameters } of functions) tools.push({ name, description, parameters });
    const said = question.flat().filter(({ role }) => role === "user");
    const gold = wanted.get(id);
    if (gold !== undefined && said.length === 1) queries.push({ query: said[0].content, tools: [...new Set(gold)] });
  }
  return { tools, queries };
}

/** Gives the lines of a file of requests: those that are measured, which `lib/sample.txt` names by their places in the source. */
function samples() {
  const text = readFileSync(join(import.meta.dirname, "lib", "sample.txt"), "utf8");
  const places = new Map(
    text.split("\n").flatMap((line) => {
      const [name, list] = line.split(": ");
      return list === undefined ? [] : [[name, list.split(" ").map((place) => Number.parseInt(place, 36))]];
    }),
  );
  return (name, all) =>
    `${places
      .get(name)
      .map((place) => JSON.stringify(all[place]))
      .join("\n")}\n`;
}

/** Whole or not at all. */
function write(name, content) {
  writeFileSync(join(DATA, `${name}.part`), content);
  renameSync(join(DATA, `${name}.part`), join(DATA, name));
}
