import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { hubSettingsFromEnv } from "@shedkit/gguf";
import { shelfFile } from "./data-folder.js";
import { Mcp } from "./mcp.js";
import { allowedServers } from "./mcp-leave.js";
import { chooseModel, type Environment, type ModelChoice } from "./model-choice.js";
import { CLOUDS } from "./models/cloud.js";
import { bytes } from "./progress.js";
import { type Settings, type Sourced, TOOL_GROUPS } from "./settings.js";
import { Shelf } from "./shelf.js";

export interface DoctorOptions {
  /** Of the program. */
  version: string;
  settings: Sourced<Settings>;
  root: string;
}

/** What this machine can run, which models are at hand, and which one would answer and why. */
export async function examine({ version, settings, root }: DoctorOptions): Promise<string> {
  const { model } = settings;
  const choice = chooseModel(model.value, null);
  const hub = hubSettingsFromEnv();
  const cache = hub.cacheDir ?? "";
  const rows: [name: string, value: string][] = [
    ["answerme-agent", `${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}`],
    ["machine", `${os.availableParallelism()} CPUs, ${bytes(os.totalmem())} memory, ${bytes(os.freemem())} of it free`],
    ["llama.cpp", await llamaCpp()],
    ["model cache", cache],
    ...(await cachedModels(cache)).map((found): [string, string] => ["", found]),
    [
      "hub",
      [
        hub.endpoint ?? "https://huggingface.co",
        ...(hub.offline ? ["offline"] : []),
        ...(hub.token ? ["with a token"] : []),
      ].join(", "),
    ],
    [
      "model",
      model.from === "default"
        ? "none is set: the first cloud with a key, else the demonstration"
        : `set by ${model.from}`,
    ],
    ["", choice.notice.text],
    ["keys", keys(process.env)],
    ["tools", toolGroups(settings, choice)],
    ...(await mcpServers(settings, root)),
  ];
  return rows.map(([name, value]) => `${name.padEnd(16)}${value}\n`).join("");
}

/** Which keys there are, never what they are. */
function keys(env: Environment): string {
  const there = [...new Set(CLOUDS.map(({ key }) => key)), "HF_TOKEN"].filter((name) => env[name]);
  return there.join(", ") || "none";
}

function toolGroups({ tools, services }: Sourced<Settings>, { groups = TOOL_GROUPS }: ModelChoice): string {
  const { search, images, videos } = services.value;
  const there = groups.filter((group) => {
    return tools.value[group] !== false && (group !== "media" || images !== undefined || videos !== undefined);
  });
  const named = there.map((group) => (group === "web" && search ? "web (with a search)" : group));
  return named.join(", ") || "none";
}

/** Starts the servers, as a session would, to see how it stands with them. */
async function mcpServers({ mcpServers, permission }: Sourced<Settings>, root: string): Promise<[string, string][]> {
  const entries = mcpServers.value;
  if (entries.length === 0) return [["MCP servers", "none"]];
  const notes = await openNotes();
  const allowed = await allowedServers(entries, { root, permission: permission.value, notes: notes?.notes });
  const mcp = new Mcp({ entries, root, env: process.env, allowed, notes: notes?.notes, connectTimeoutMs: 15_000 });
  const lines = await mcp.lines();
  await mcp.close();
  await notes?.close();
  return lines.map(({ name, text }, i) => [i === 0 ? "MCP servers" : "", `${name}: ${text}`]);
}

async function openNotes(): Promise<Shelf | undefined> {
  const file = shelfFile(process.env, os.homedir());
  return existsSync(file) ? Shelf.open(file).catch(() => undefined) : undefined;
}

/** Whether local models run here, and on what. */
async function llamaCpp(): Promise<string> {
  try {
    const { getLlama, LlamaLogLevel } = await import("node-llama-cpp");
    const llama = await getLlama({
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: LlamaLogLevel.disabled,
      logger: () => undefined,
    });
    const on =
      llama.gpu === false ? "on the CPU" : `on the GPU (${llama.gpu}: ${(await llama.getGpuDeviceNames()).join(", ")})`;
    await llama.dispose();
    return `works, ${on}`;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    return `does not work (${reason}); install it with: npm i node-llama-cpp`;
  }
}

/** The GGUF files of the cache, with their repositories. */
async function cachedModels(cache: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of await names(cache)) {
    if (!folder.startsWith("models--")) continue;
    const repo = folder.slice("models--".length).replace("--", "/");
    const snapshots = path.join(cache, folder, "snapshots");
    for (const snapshot of await names(snapshots)) {
      for (const file of await names(path.join(snapshots, snapshot))) {
        if (!file.endsWith(".gguf")) continue;
        const size = await stat(path.join(snapshots, snapshot, file)).catch(() => undefined);
        if (size) found.push(`${repo} ${file} (${bytes(size.size)})`);
      }
    }
  }
  return found.length === 0 ? ["no GGUF models"] : found.sort();
}

function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
