import { createHash, randomUUID } from "node:crypto";
import type { AnyAgentSession } from "@shedkit/agent";
import { presetModels, settingsOf } from "@shedkit/agent/internals";
import { type KeyValueStore, MemoryDocumentStore, type QueryStore, type SqlDocumentStore } from "@shedkit/store";
import { AgenticError, type JsonValue, modelId } from "@shedkit/types";
import { checkTool, type DurableDefinition, serviceName } from "./definition.js";

const STORE_KEY = "durable-restate/store";
const WORKERS_KEY = "durable-restate/workers";

/** What tells two definitions of one name apart: of each part a digest. What functions do cannot be told. */
type Print = { [part in "models" | "system prompt" | "tools" | "workspace"]: string };

/** A worker, as the shared store knows it while it runs. */
type Entry = { owner: string; version: string; print: Print };

/** A worker that the others of its store can see. */
export interface Enrolled {
  /** The shared store's own name. Absent where the storage keeps no keys. */
  storeId: string | undefined;
  leave(): Promise<void>;
}

/**
 * Makes the sessions' parts once, so that what is wrong with them is told at the start, and compares the definition with
 * those of the workers that run now under its name.
 *
 * Throws AgenticError `session` (reason "two definitions" or "not durable"), or what `build` throws.
 */
export async function enrol(definition: DurableDefinition): Promise<Enrolled> {
  const print = await printOf(definition);
  const { storage } = settingsOf(definition.agent).docStore as unknown as SqlDocumentStore;
  if (!keepsKeys(storage)) return { storeId: undefined, leave: async () => {} };
  const storeId = await idOf(storage);
  const { owner = "" } = storage;
  const { version = "" } = definition;
  const others = `${WORKERS_KEY}/${serviceName(definition)}/`;
  const key = `${others}${randomUUID()}`;
  const entry: Entry = { owner, version, print };
  await storage.set(key, entry);
  const leave = async () => {
    await storage.delete(key);
  };
  try {
    for await (const other of storage.keys(others)) {
      if (other !== key) await compare(storage, other, entry, serviceName(definition));
    }
  } catch (error) {
    await leave().catch(() => undefined);
    throw error;
  }
  return { storeId, leave };
}

async function compare(storage: KeyValueStore & QueryStore, key: string, own: Entry, name: string): Promise<void> {
  const other = (await storage.get(key)) as Entry | undefined;
  if (!other) return;
  if (other.owner !== own.owner && !(await storage.isAlive?.(other.owner))) {
    await storage.delete(key);
    return;
  }
  if (other.version !== own.version) return;
  const parts = Object.keys(own.print) as (keyof Print)[];
  const differing = parts.filter((part) => own.print[part] !== other.print[part]);
  if (differing.length === 0) return;
  const version = own.version === "" ? "no version" : `the version "${own.version}"`;
  throw new AgenticError(
    "session",
    `Two definitions have the name "${name}": a worker that runs now has another one, also with ${version} (another ${differing.join(", ")}). A session would run with one or the other. Give them names of their own, or, where this is newer code, another \`version\`.`,
    { reason: "two definitions" },
  );
}

async function printOf(definition: DurableDefinition): Promise<Print> {
  const { agent, workspace } = definition;
  const { model, fallbacks, memoryModel, source, system } = settingsOf(agent);
  const preset = presetModels(source);
  const models = [model ?? preset.primary, ...(fallbacks ?? preset.fallbacks ?? []), memoryModel ?? preset.memory];
  return {
    models: digest(models.map((one) => (one === undefined ? null : modelId(one).name))),
    "system prompt": digest(system ?? null),
    tools: digest(await toolsOf(definition)),
    workspace: digest(workspace?.type ?? null),
  };
}

/** The names and kinds of the tools of a session: they are made, and let go of. */
async function toolsOf({ agent, workspace }: DurableDefinition): Promise<JsonValue> {
  let session: AnyAgentSession;
  try {
    session = await agent.withDocStore(new MemoryDocumentStore()).build();
  } catch (error) {
    // Whose session this one would be is nobody's business: what it has is seen when somebody's is opened.
    if (AgenticError.is(error, "session") && error.details.reason === "access denied") return null;
    throw error;
  }
  try {
    const tools = session.toolManager;
    return [...tools.names()].sort().map((name) => {
      const kind = tools.metadata(name)?.kind ?? "other";
      checkTool(name, kind, workspace);
      return [name, kind];
    });
  } finally {
    await session.end();
  }
}

function digest(value: JsonValue): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

function keepsKeys<Q extends QueryStore>(storage: Q): storage is Q & KeyValueStore {
  return "get" in storage && "set" in storage && "keys" in storage;
}

/** Made by the first worker that looks. */
async function idOf(storage: KeyValueStore): Promise<string> {
  for (;;) {
    const found = await storage.get(STORE_KEY);
    if (typeof found === "string") return found;
    const made = randomUUID();
    const isOurs = await storage.set(STORE_KEY, made, { ifVersion: 0 }).then(
      () => true,
      (error: unknown) => (AgenticError.is(error, "store") ? false : Promise.reject(error)),
    );
    if (isOurs) return made;
  }
}
