// What the packages of others take that ours need, as they are installed here: alone, and with all that they need.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bytesOf, closureOf } from "./lib/install/linked.mjs";
import { number, report } from "./lib/report.mjs";

const ROOT = join(import.meta.dirname, "..");
/** Bundled into what we publish: no dependency of it. */
const BUNDLED = { "@sinclair/typebox": "tools-files", preact: "server", marked: "server" };

const uses = new Map();
for (const file of globSync(["packages/*/package.json", "apps/*/package.json"], { cwd: ROOT }).sort()) {
  const from = join(ROOT, dirname(file));
  const manifest = JSON.parse(readFileSync(join(ROOT, file), "utf8"));
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, devDependencies = {} } = manifest;
  const short = manifest.name.replace("@shedkit/", "");
  const bundled = Object.keys(devDependencies).filter((name) => BUNDLED[name] === short);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
    add(name, from, short);
  for (const name of bundled) add(name, from, `${short}, bundled`);
}

function add(name, from, user) {
  if (name.startsWith("@shedkit/")) return;
  const known = uses.get(name);
  if (known === undefined) uses.set(name, { from, users: [user] });
  else if (!known.users.includes(user)) known.users.push(user);
}

const data = {};
const notes = [];
for (const [name, { from, users }] of [...uses].sort(([a], [b]) => a.localeCompare(b))) {
  const { found, missing } = closureOf([[name, from]], { optional: true });
  if (missing.length > 0) notes.push(`${name}: without ${missing.join(", ")}, left out of this workspace.`);
  const [own] = found.keys();
  const sizes = Array.from(found.keys(), bytesOf);
  const { version } = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  data[name] = { version, users, alone: sizes[0] / 1e6, whole: whole / 1e6, packages: found.size };
}
report("dependency-sizes", {
  data,
  notes,
  tables: [
    {
      key: "sizes",
      title: `What dependencies take on ${process.platform}-${process.arch}, unpacked`,
      head: ["", "version", "in", "alone, MB", "with all that it needs, MB", "packages"],
      rows: Object.entries(data).map(([name, { version, users, alone, whole, packages }]) => [
        ...[name, version, users.join("; "), number(alone), number(whole), `${packages}`],
      ]),
    },
  ],
});
