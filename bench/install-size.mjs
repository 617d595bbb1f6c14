// What an installation takes: files, a bundle, the time until it is loaded, the work of the compiler.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { install, sizeOf } from "./lib/install/folders.mjs";
import { link } from "./lib/install/linked.mjs";
import { partSizes } from "./lib/install/parts.mjs";
import { bundle, load, types, withTools, writeLoad } from "./lib/install/program.mjs";
import { SUBJECTS } from "./lib/install/subjects.mjs";
import { versions } from "./lib/peers.mjs";
import { number, quick, report, spread, wantedOf } from "./lib/report.mjs";
import { figures, inTurn } from "./lib/rounds.mjs";
import { share } from "./lib/shares.mjs";

const NODE = "Node alone";
const notes = [
  quick
    ? "Taken from what is installed here; without --quick npm installs each in an empty folder."
    : "Installed by npm in an empty folder, without optional dependencies (but @openai/agents, which does not load without) and without scripts; ours from tarballs packed here.",
  "“Everything” is all packages of ours without what is installed beside them: node-llama-cpp, transformers.js, ai.",
];
const work = mkdtempSync(join(tmpdir(), "shedkit-bench-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

const manifest = (folder) => JSON.parse(readFileSync(join(import.meta.dirname, folder, "package.json"), "utf8"));
const local = manifest("../packages/provider-llamacpp").devDependencies;
const pinned = {
  ...{ work, packed: new Map(), strandsVersions: manifest("strands").dependencies },
  versions: {
    ...versions(),
    ...manifest("..").devDependencies,
    ...manifest("../packages/provider-transformers").devDependencies,
    ...local,
    "@node-llama-cpp/linux-x64": local["node-llama-cpp"],
  },
};
const data = {};
const folders = { [NODE]: join(work, "node") };
mkdirSync(folders[NODE]);
writeLoad(folders[NODE], "");
const names = wantedOf(Object.keys(SUBJECTS)).filter((name) => !(quick && SUBJECTS[name].full));
for (const [place, name] of names.entries()) {
  const subject = SUBJECTS[name];
  try {
    const { folder, size } = installed(subject, `${place}`);
    data[name] = size;
    if (!subject.program) continue;
    writeLoad(folder, subject.program);
    load(folder); // one that does not load is told, and is no part of the rounds
    folders[name] = folder;
    Object.assign(data[name], await bundle(folder, subject.program));
    data[name].types = types(folder, subject.program);
    data[name].tools = types(folder, withTools(subject));
  } catch (fault) {
    notes.push(`${name} failed: ${fault.message.split("\n").slice(0, 3).join(" ")}`);
  }
}

function installed(subject, name) {
  if (quick) return link(subject, { work, name });
  const folder = install(subject, { ...pinned, name });
  return { folder, size: sizeOf(folder) };
}

const { got } = await inTurn(Object.keys(folders), quick ? 2 : 11, async (name) => load(folders[name]), {
  ...{ warm: quick ? 0 : 1, least: quick ? 1 : 3, ms: share("install-size", 0.3) },
});
const [loaded, memory] = ["ms", "mb"].map((key) => figures(got, key, NODE));
for (const name of names) {
  if (loaded[name] === undefined) continue;
  data[name].load = loaded[name];
  data[name].node = loaded[NODE].median;
  data[name].memory = memory[name].median - memory[NODE].median;
}
const parts = partSizes();
report("install-size", {
  data: { ...data, parts },
  notes,
  tables: [
    {
      key: "install",
      title: "What an installation takes (less is better)",
      head: [
        ...["", "installed, MB", "packages", "bundle, gz KB", "loaded in, CPU ms", "of it Node, ms"],
        ...["memory more than Node, MB", "instantiations", "with thirty tools", "check of these, s"],
      ],
      rows: Object.entries(data).map(([name, own]) => [
        name,
        number(own.megabytes),
        `${own.packages}`,
        number(own.gz),
        spread(own.load),
        number(own.node),
        number(own.memory),
        ...[own.types, own.tools].map((found) => found?.instantiations?.toLocaleString("en") ?? "–"),
        number(own.tools?.check),
      ]),
    },
    {
      key: "parts",
      title: "Large parts, MB",
      head: ["", "MB"],
      rows: Object.entries(parts).map(([name, size]) => [name, number(size)]),
    },
  ],
});
process.exit();
