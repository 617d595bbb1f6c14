// The data of the search measurement: from a folder that has it, or from the public repositories it stands in.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { DATA, FILES, seeded } from "./lib/data.mjs";

const RAW = "https://raw.githubusercontent.com";
const METATOOL = `${RAW}/HowieHwong/MetaTool/e1029bcfdb1039aff6ce24b548920d8bc25b1c3d/dataset`;
const BFCL = `${RAW}/ShishirPatil/gorilla/main/berkeley-function-call-leaderboard/bfcl_eval/data`;
const BFCL_PARTS = ["simple_python", "multiple", "live_simple", "live_multiple"];
const QUERIES = 2000; // of MetaTool's, of which there are ten times as many
const TIMEOUT_MS = 60_000;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv[2]);
  } catch (fault) {
    console.error(fault.message);
    process.exitCode = 1;
  }
}

async function main(folder) {
  mkdirSync(DATA, { recursive: true });
  if (folder === undefined) await download();
  else take(folder);
  console.log(`The data is in ${relative(process.cwd(), DATA) || "."}. Now: pnpm bench shed-search`);
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
  const metatool = Object.entries(JSON.parse(descriptions)).map(([name, description]) => ({ name, description }));
  const known = new Set(metatool.map(({ name }) => name));
  const queries = metatoolQueries(csv).filter(({ tools }) => known.has(tools[0]));
  const two = JSON.parse(pairs).map(({ query, tool }) => ({ query, tools: tool }));
  const functions = new Map();
  for (const { tools } of parts)
    for (const tool of tools) if (!functions.has(tool.name)) functions.set(tool.name, tool);
  write("metatool-tools.json", JSON.stringify(metatool));
  write("metatool-queries.jsonl", lines(sample(queries, QUERIES)));
  write("metatool-queries-two-tools.jsonl", lines(two.filter(({ tools }) => tools.every((name) => known.has(name)))));
  write("bfcl-tools.json", JSON.stringify([...functions.values()]));
  write("bfcl-queries.jsonl", lines(parts.flatMap((part) => part.queries)));
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
export function metatoolQueries(csv) {
  const rows = csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n][^,\r\n]*)),([^,\r\n]+)\r?(?:\n|$)/g);
  const all = Array.from(rows, ([, quoted, plain, tool]) => ({
    query: (quoted?.replaceAll('""', '"') ?? plain).trim(),
    tools: [tool],
  }));
  return all.slice(1); // the first names the columns
}

/** The functions that the questions come with, and the questions that ask one thing of one of them. */
export function bfcl(questions, answers) {
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

/** The same ones in every run, in an order of chance. */
function sample(all, count) {
  const random = seeded(1);
  const keyed = all.map((each) => [random(), each]);
  return keyed
    .sort(([a], [b]) => a - b)
    .slice(0, count)
    .map(([, each]) => each);
}

function lines(all) {
  return `${all.map((each) => JSON.stringify(each)).join("\n")}\n`;
}

/** Whole or not at all. */
function write(name, content) {
  writeFileSync(join(DATA, `${name}.part`), content);
  renameSync(join(DATA, `${name}.part`), join(DATA, name));
}
