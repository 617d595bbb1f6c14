import { ToolShed } from "@shedkit/shed";
import type { DocumentStore, MemoryStore } from "@shedkit/store";
import { Resources } from "@shedkit/tool";
import { AgenticError, type ModelIdLike, newSessionId, type SessionId } from "@shedkit/types";
import { defaultConfig } from "./config.js";
import { inProcessEffects } from "./effects.js";
import { SessionLog } from "./log.js";
import { Models, presetModels } from "./models.js";
import { LogSearch } from "./recall.js";
import { mend, readState } from "./replay.js";
import type { SessionInternals } from "./session.js";
import type { Settings } from "./settings.js";
import { WorkingMemory } from "./working-memory.js";

/** Makes a session's parts, over one log. Resuming is no other way. */
export async function buildParts<D extends DocumentStore, M extends MemoryStore>(
  settings: Settings<D, M>,
  signal: AbortSignal | undefined,
): Promise<SessionInternals<D, M>> {
  const { source, docStore, memoryStore } = settings;
  signal?.throwIfAborted();
  const models = settings.models ?? new Models(source);
  const model = preflight(settings, models);
  const sessionId = settings.sessionId ?? newSessionId();
  const lease = await docStore.acquire(sessionId, { signal });
  try {
    const state = await readState(docStore, sessionId, signal);
    if (settings.mustExist && state.lastRecordId === "") throw notFound(sessionId);
    const effects = inProcessEffects(docStore, lease);
    const log = new SessionLog(state, effects);
    const context = new LogSearch(docStore, sessionId);
    const memory = new WorkingMemory(log, memoryStore, sessionId);
    const shed = settings.shed ?? new ToolShed();
    const parts = { sessionId, context, memory, resources: new Resources(), embedder: settings.embedder };
    const tools = await shed.build(parts);
    for (const [name, by] of state.activations) if (tools.get(name)) tools.activate([name], by);
    await mend(log, effects);
    models.retain();
    const config = { ...defaultConfig, ...settings.config };
    const { system } = settings;
    return { sessionId, docStore, memoryStore, lease, tools, context, log, effects, models, model, system, config };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** What can be known to go wrong before anything is taken or loaded. */
function preflight(settings: Settings<DocumentStore, MemoryStore>, models: Models): ModelIdLike {
  const model = settings.model ?? presetModels(settings.source).primary;
  if (model === undefined) {
    throw new AgenticError(
      "session",
      "no model set: name one with withModel(...), or build from a preset that carries its models.",
      { reason: "no model set" },
    );
  }
  models.ready?.resolve(model);
  return model;
}

function notFound(sessionId: SessionId): AgenticError {
  return new AgenticError("sessionNotFound", `There is no session "${sessionId}" in the store.`, { sessionId });
}
