// Packages that are installed here already: what `--quick` looks at instead of an installation by npm.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join, sep } from "node:path";

const BENCH = join(import.meta.dirname, "..", "..");
const ALWAYS = /^(package\.json|readme|licen[cs]e|changelog)/i;

/** A folder whose packages are links to what is installed here, and how much that is. It takes the same subjects as `install`. */
export function link({ ours = [], peers = [], strands = [], beside = [], optional = false }, { work, name }) {
  const folder = join(work, name);
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  const here = [...ours.map((each) => `@shedkit/${each}`), ...peers, ...beside].map((each) => [each, BENCH]);
  const theirs = strands.map((each) => [each, join(BENCH, "strands")]);
  const { found, missing } = closureOf([...here, ...theirs], { optional });
  if (missing.length > 0) throw new Error(`${missing.join(", ")} is not installed: pnpm --dir bench install`);
  for (const [place, wanted] of found) {
    const at = join(folder, "node_modules", wanted);
    if (existsSync(at)) continue; // another version of it: the first is what the program sees
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(place, at, "junction");
  }
  const bytes = Array.from(found.keys(), bytesOf).reduce((sum, size) => sum + size, 0);
  return { folder, size: { megabytes: bytes / 1e6, packages: found.size } };
}

/**
 * Packages, each a name and the folder that asks for it, with all that they need: where each lies, and its name. With `optional`
 * also what of their optional dependencies is installed. `missing` has what they need and is not.
 */
export function closureOf(wanted, { optional }) {
  const found = new Map();
  const missing = [];
  const visit = (name, from, required) => {
    const place = placeOf(name, from);
    if (place === undefined && required) missing.push(name);
    if (place === undefined || found.has(place)) return;
    found.set(place, name);
    for (const need of needs(place, optional)) visit(need.name, place, need.required);
  };
  for (const [name, from] of wanted) visit(name, from, true);
  return { found, missing };
}

/** Where Node would find a package, asked from a folder. */
function placeOf(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    if (existsSync(join(place, "package.json"))) return realpathSync(place);
    if (folder === dirname(folder)) return undefined;
  }
}

/** What a package needs, as npm sees it: its dependencies, and the peers that it cannot do without. */
function needs(place, optional) {
  const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const must = Object.keys(dependencies).filter((name) => !(name in optionalDependencies));
  const may = optional ? Object.keys(optionalDependencies) : [];
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [
    ...must.map((name) => ({ name, required: true })),
    ...[...may, ...peers].map((name) => ({ name, required: false })),
  ];
}

/** Of a package: what would be published of ours, all of another's. */
export function bytesOf(place) {
  const own = !place.includes(`${sep}node_modules${sep}`);
  const { files = [] } = own ? JSON.parse(readFileSync(join(place, "package.json"), "utf8")) : {};
  const published = (entry) => ALWAYS.test(entry) || files.includes(entry);
  return readdirSync(place)
    .filter((entry) => entry !== "node_modules" && (!own || published(entry)))
    .reduce((sum, entry) => sum + sizeUnder(join(place, entry)), 0);
}

function sizeUnder(path) {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.isFile() ? stat.size : 0;
  return readdirSync(path).reduce((sum, entry) => sum + sizeUnder(join(path, entry)), 0);
}
