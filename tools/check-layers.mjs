// Fails where a package imports from a floor above it, where packages run in a circle, where two export one name, or where a
// README does not have a name that its package exports (but from `internals`). The floors are those of ARCHITECTURE.md.
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const FLOORS = [
  ["types"],
  ["fs", "tool", "provider", "store"],
  ["toolset", "text-tools"],
  ["shed", /^provider-/, "gguf", /^store-/, /^tools-/, /^bridge-/],
  ["agent"],
  ["harness", "otel", "server", "durable-restate"],
  ["answerme-agent"],
];
/** Arrows within one floor; every other one must point down. */
const SAME_FLOOR = [
  ["provider-llamacpp", "gguf"],
  ["provider-transformers", "gguf"],
  ["tools-mcp", "shed"],
  ["tools-documents", "tools-files"],
  ["tools-hashline", "tools-files"],
  ["tools-hashline", "tools-search"],
  [/^bridge-/, "shed"],
];
/** Outside the floors: what they may import. Nobody's product code imports `testing`. */
const ASIDE = { testing: ["types", "provider"], "model-demo": [] };

const matches = (pattern, name) => (pattern instanceof RegExp ? pattern.test(name) : pattern === name);
const floorOf = (name) => FLOORS.findIndex((floor) => floor.some((pattern) => matches(pattern, name)));

const problems = [];
const packages = new Map(); // name -> { dir, imports: Map(name -> file), manifest }
for (const file of globSync("{packages,apps}/*/package.json", { cwd: root }).sort()) {
  const dir = path.join(root, path.dirname(file));
  const manifest = JSON.parse(readFileSync(path.join(root, file), "utf8"));
  packages.set(manifest.name.replace("@shedkit/", ""), { dir, manifest, imports: importsOf(dir) });
}

for (const [name, { imports, manifest }] of packages) {
  const floor = floorOf(name);
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
  if (floor < 0 && !(name in ASIDE)) problems.push(`${name}: has no floor; add it to tools/check-layers.mjs`);
  for (const [target, file] of imports) {
    if (target === name) continue;
    if (!packages.has(target)) problems.push(`${name}: ${file} imports @shedkit/${target}, which does not exist`);
    if (!(`@shedkit/${target}` in declared))
      problems.push(`${name}: ${file} imports @shedkit/${target}, which its package.json does not depend on`);
    if (!allowed(name, target)) problems.push(`${name}: ${file} imports @shedkit/${target}, which is not below it`);
  }
  for (const dependency of Object.keys(declared)) {
    const target = dependency.replace("@shedkit/", "");
    if (dependency.startsWith("@shedkit/") && !allowed(name, target))
      problems.push(`${name}: package.json depends on ${dependency}, which is not below it`);
  }
}

function allowed(name, target) {
  if (name === target) return true;
  if (name in ASIDE) return ASIDE[name].includes(target);
  if (target in ASIDE) return target === "model-demo" && floorOf(name) === FLOORS.length - 1;
  if (floorOf(target) < floorOf(name)) return true;
  return SAME_FLOOR.some(([from, to]) => matches(from, name) && matches(to, target));
}

for (const circle of circles()) problems.push(`circle: ${circle.join(" -> ")}`);

const exporters = new Map(); // exported name -> package
for (const [name, { dir, manifest }] of packages) {
  const told = namesIn(path.join(dir, "README.md"));
  for (const [key, entry] of Object.entries(manifest.exports ?? {})) {
    const source = typeof entry === "object" ? entry["@shedkit/source"] : undefined;
    if (source === undefined) continue;
    const file = path.join(dir, source);
    if (!existsSync(file)) {
      problems.push(`${name}: exports ${source}, which does not exist`);
      continue;
    }
    for (const exported of exportsOf(file, name)) {
      const other = exporters.get(exported);
      if (other !== undefined && other !== name) problems.push(`"${exported}" is exported by ${other} and by ${name}`);
      exporters.set(exported, name);
      if (key !== "./internals" && !told.has(exported))
        problems.push(`${name}: its README does not name "${exported}"`);
    }
  }
}

if (problems.length > 0) {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}
console.log(`${packages.size} packages, ${exporters.size} exported names: no arrow up, no circle, no name twice`);

/** The workspace packages that a package's sources import, each with the first file that does. */
function importsOf(dir) {
  const found = new Map();
  for (const file of globSync("src/**/*.{ts,mts,cts,tsx}", { cwd: dir }).sort()) {
    const text = withoutComments(readFileSync(path.join(dir, file), "utf8"));
    // Any string that names a package is taken for an import of it, however it is imported.
    for (const match of text.matchAll(/["'`]@shedkit\/([^/"'`]+)(?:\/[^"'`\s]*)?["'`]/g))
      if (!found.has(match[1]) && !isInstallText(text, match.index)) found.set(match[1], file);
    // A path that leaves the package's folder.
    for (const match of text.matchAll(/(?:from|import|require)\s*\(?\s*["'`](\.\.?\/[^"'`]+)["'`]/g)) {
      const target = path.resolve(dir, path.dirname(file), match[1]);
      if (path.relative(dir, target).startsWith(".."))
        problems.push(`${path.basename(dir)}: ${file} imports ${match[1]}`);
    }
  }
  return found;
}

/** The names that an entry exports. Entries name what they export: `export *` is refused. */
function exportsOf(file, name) {
  const text = withoutComments(readFileSync(file, "utf8"));
  if (/^export\s*\*/m.test(text)) problems.push(`${name}: ${path.basename(file)} has an "export *"; name the exports`);
  const names = new Set();
  for (const match of text.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm))
    for (const part of match[1].split(",")) {
      const exported = part
        .trim()
        .replace(/^type\s+/, "")
        .split(/\s+as\s+/)
        .at(-1);
      if (exported) names.add(exported);
    }
  const declaration =
    /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|var|function\*?|class|interface|type|enum|namespace)\s+(\w+)/gm;
  for (const match of text.matchAll(declaration)) names.add(match[1]);
  if (/^export\s+(?:declare\s+)?(?:const|let|var)\s*[[{]/m.test(text))
    problems.push(`${name}: ${path.basename(file)} exports by destructuring; name the exports`);
  if (/^export\s+(?:const|let|var)\s[^=;(]*=[^;(\n]*,\s*\w+\s*=/m.test(text))
    problems.push(`${name}: ${path.basename(file)} exports several names in one statement; use one each`);
  return names;
}

/** The words that stand as code in the text of a README; its examples do not count. */
function namesIn(file) {
  const text = existsSync(file) ? readFileSync(file, "utf8").replace(/^ *```[\s\S]*?^ *```$/gm, "") : "";
  return new Set([...text.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code.match(/[\w$]+/g) ?? []));
}

/** The text without its comments; what looks like one inside a string stays. */
function withoutComments(text) {
  const token = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/.*$/gm;
  return text.replace(token, (found) => (found.startsWith("/") ? "" : found));
}

/** A package named for a person, in a call of `optionalPeer`, is imported there as well; elsewhere it is only text. */
function isInstallText(text, index) {
  const before = text.slice(Math.max(0, index - 60), index);
  return /(?:optionalPeer\(\s*|install:\s*|package:\s*)$/.test(before);
}

function circles() {
  const found = [];
  const done = new Set();
  const visit = (name, trail) => {
    const at = trail.indexOf(name);
    if (at >= 0) return found.push([...trail.slice(at), name]);
    if (done.has(name)) return;
    for (const target of packages.get(name)?.imports.keys() ?? []) if (target !== name) visit(target, [...trail, name]);
    done.add(name);
  };
  for (const name of packages.keys()) visit(name, []);
  return found;
}
