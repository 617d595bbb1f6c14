import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const manifests = new Map(
  globSync("packages/*/package.json", { cwd: ROOT }).map((file) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, file), "utf8"));
    return [manifest.name, { manifest, folder: join(ROOT, file, "..") }];
  }),
);

/** The names of our packages that are published. */
export const PUBLISHED = [...manifests.keys()].filter((name) => !manifests.get(name).manifest.private);

function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`.slice(0, 2000));
  return stdout;
}

/** A package of ours with those of ours that it needs, packed as they would be published. */
function tarballs(names, folder, packed) {
  const found = [];
  const visit = (name) => {
    if (found.includes(name)) return;
    found.push(name);
    for (const dependency of Object.keys(manifests.get(name).manifest.dependencies ?? {})) {
      if (manifests.has(dependency)) visit(dependency);
    }
  };
  for (const name of names) visit(name);
  return found.map((name) => {
    if (!packed.has(name)) {
      const { manifest, folder: from } = manifests.get(name);
      run("pnpm", ["pack", "--pack-destination", folder], from);
      packed.set(name, join(folder, `${name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`));
    }
    return packed.get(name);
  });
}

/** An empty folder with a subject installed by npm, as a person does it, without scripts, and without optional dependencies unless it needs them. */
export function install(
  { ours = [], peers = [], strands = [], beside = [], optional = false },
  { work, name, packed, versions, strandsVersions },
) {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const names = ours.map((each) => `@shedkit/${each}`);
  const wanted = [
    ...tarballs(names, work, packed),
    ...peers.map((peer) => `${peer}@${versions[peer]}`),
    ...strands.map((peer) => `${peer}@${strandsVersions[peer]}`),
    ...beside.map((each) => `${each}@${versions[each]}`),
  ];
  const flags = [
    ...(optional ? [] : ["--omit=optional"]),
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  run("npm", ["install", ...flags, ...wanted], folder);
  return folder;
}

/** Megabytes of all files, and how many packages there are. */
export function sizeOf(folder) {
  let bytes = 0;
  let packages = 0;
  for (const entry of readdirSync(join(folder, "node_modules"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    bytes += statSync(join(entry.parentPath, entry.name)).size;
    if (entry.name === "package.json" && /node_modules[\\/](@[^\\/]+[\\/])?[^@\\/][^\\/]*$/.test(entry.parentPath))
      packages++;
  }
  return { megabytes: bytes / 1e6, packages };
}
