import { ToolShed } from "@shedkit/shed";
import type { DocumentStore, MemoryStore } from "@shedkit/store";
import { Resources } from "@shedkit/tool";
import { AgenticError, type ModelIdLike, modelId, newSessionId, type SessionId } from "@shedkit/types";
import { abortedError, untilAborted } from "./abortable.js";
import { LOCAL_USER, named, Spending } from "./access.js";
import { Children } from "./children.js";
import { defaultConfig, defaultContextConfig, defaultLoopDetection, defaultMemoryConfig } from "./config.js";
import { agentRanges, configured, contextRanges, loopRanges, memoryRanges } from "./config-check.js";
import { AgentContext } from "./context/context.js";
import { SessionLog } from "./log/log.js";
import { mend, readState } from "./log/replay.js";
import { GRACE_MS, inProcessEffects } from "./loop/effects.js";
import { defaultErrorPolicy } from "./loop/error-policy.js";
import { AgentLoop } from "./loop/loop.js";
import { gated } from "./loop/pause.js";
import type { LoopParts } from "./loop/state.js";
import { MemoryCoordinator } from "./memory/coordinator.js";
import { Recall } from "./memory/recall.js";
import { syncMemory } from "./memory/sync.js";
import { WorkingMemory } from "./memory/working-memory.js";
import { Models, presetModels } from "./models.js";
import { observing } from "./observer.js";
import { Permissions } from "./permissions.js";
import { AgentSession, type SessionInternals } from "./session.js";
import type { BuildOptions, Settings } from "./settings.js";
import { sessionError } from "./turn/prompt.js";

const NOT_BUILT = "The session was not built";

/** Makes a session's parts, over one log. Resuming is no other way. */
export async function buildParts<D extends DocumentStore, M extends MemoryStore>(
  settings: Settings<D, M>,
  { signal, waitMs }: BuildOptions = {},
): Promise<SessionInternals<D, M>> {
  const { source, docStore, memoryStore } = settings;
  if (signal?.aborted) throw abortedError(signal, NOT_BUILT);
  const models = settings.models ?? new Models(source);
  const selection = preflight(settings, models);
  const configs = configsOf(settings);
  const sessionId = settings.sessionId ?? newSessionId();
  const { user = LOCAL_USER } = settings;
  const access = settings.access && named(settings.access);
  if (access && !(await access.canAccessSession(user, sessionId))) throw noAccess(user, sessionId);
  const spending = settings.spending ?? (await Spending.open(access, user));
  for (const model of [...selection.models, selection.memoryModel]) await spending.checkModel(modelId(model).name);
  const engine = settings.depth === undefined ? settings.engine : undefined; // a sub-agent lives in its call
  const taking = docStore.acquire(sessionId, { signal, waitMs, takeOver: engine !== undefined });
  const lease = await orGiveUp(taking, signal, (late) => late.release());
  let close: () => void | Promise<void> = () => {};
  try {
    const state = await orGiveUp(readState(docStore, sessionId, signal), signal);
    // A new id has no memory.
    const tiers = settings.sessionId === undefined ? {} : await orGiveUp(memoryStore.read(sessionId), signal);
    if (settings.mustExist && state.lastRecordId === "" && Object.keys(tiers).length === 0) throw notFound(sessionId);
    const inProcess = inProcessEffects(docStore, lease);
    const driven = engine ? engine.effects(inProcess) : inProcess;
    const effects = settings.gate ? gated(driven, settings.gate) : driven;
    // What runs beside the loop is no step of it, and holds none up.
    const { generate } = settings.gate ? gated(inProcess, settings.gate) : inProcess;
    const beside = effects === inProcess ? effects : { ...effects, generate, sleep: inProcess.sleep };
    const log = new SessionLog(state, effects);
    const recall = new Recall(docStore, sessionId, state, settings.embedder);
    const memory = new WorkingMemory(log, memoryStore, sessionId);
    const shed = settings.shed ?? new ToolShed();
    const children = new Children({
      ...{ settings, models, spending },
      open: async (child) => new AgentSession(await buildParts(child), child),
    });
    const sessionParts = {
      sessionId,
      context: recall,
      memory,
      resources: new Resources(),
      embedder: settings.embedder,
      spawn: children,
    };
    const tools = await orGiveUp(shed.build(sessionParts), signal, (late) => late.close());
    close = () => tools.close();
    if (access) tools.setAccess((tool) => access.canUseTool(user, tool));
    for (const { key, version, value } of state.toolStates.values()) tools.states?.restore({ key, version, value });
    for (const [name, by] of state.activations) if (tools.get(name)) tools.activate([name], by);
    await mend(log, effects, (open) => engine?.runsAgain(open, tools) ?? false);
    await syncMemory(log, memoryStore, sessionId, tiers);
    models.retain();
    const { config, contextConfig, memoryConfig, loopDetection } = configs;
    const resolve = (model: ModelIdLike, signal: AbortSignal) => models.resolve(model, signal);
    const shared = { sessionId, docStore, memoryStore, log, effects, tools, spending, config, resolve, recall };
    const { memoryModel } = selection;
    const { observer } = settings;
    const observe = observer && observing(observer, sessionId, "", () => effects.now());
    const loopParts: LoopParts = {
      ...shared,
      context: new AgentContext({ ...shared, contextConfig, memoryModel, observe }),
      memory: new MemoryCoordinator({ ...shared, effects: beside, memoryConfig, memoryModel, observe }),
      permissions: new Permissions(log, beside, tools, settings.permissions),
      errorPolicy: settings.errorPolicy ?? defaultErrorPolicy,
      loopDetection,
      system: settings.system,
      observer,
    };
    return {
      ...loopParts,
      ...{ docStore, memoryStore, lease, models, recall, children, facts: memory, engine },
      modelChain: selection.models,
      loopOf: (spec, sink) => new AgentLoop(loopParts, spec, sink),
    };
  } catch (error) {
    const closing = (async () => {
      try {
        await close(); // what the tools run in the background
      } finally {
        await lease.release();
      }
    })();
    if (signal?.aborted) await atMost(GRACE_MS, closing);
    else await closing;
    throw error;
  }
}

/**
 * What the work comes to. Who gives up does not wait for a store that does not answer, or for an embedder that hangs
 * over the tools: what comes after that is let go of.
 */
function orGiveUp<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  letGo: (late: T) => Promise<void> | void = () => undefined,
): Promise<T> {
  if (!signal) return work;
  return untilAborted(work, signal, () => {
    work.then(letGo).catch(() => undefined);
    return abortedError(signal, NOT_BUILT);
  });
}

/** Waits for work to end, but no longer than that. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  const done = work.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([done, over]);
  clearTimeout(timer);
}

function configsOf(settings: Settings<DocumentStore, MemoryStore>) {
  const { loopDetection } = settings;
  return {
    config: configured(defaultConfig, settings.config, agentRanges),
    contextConfig: configured(defaultContextConfig, settings.contextConfig, contextRanges),
    memoryConfig: configured(defaultMemoryConfig, settings.memoryConfig, memoryRanges),
    loopDetection: loopDetection === "off" ? undefined : configured(defaultLoopDetection, loopDetection, loopRanges),
  };
}

/** What can be known to go wrong before anything is taken or loaded. */
function preflight(
  settings: Settings<DocumentStore, MemoryStore>,
  models: Models,
): { models: readonly ModelIdLike[]; memoryModel: ModelIdLike } {
  if (settings.sessionId === "") {
    throw sessionError("The session id is empty. Leave it out for a new session, or name one.", "empty session id");
  }
  const preset = presetModels(settings.source);
  const primary = settings.model ?? preset.primary;
  if (primary === undefined) {
    throw new AgenticError(
      "session",
      "no model set: name one with withModel(...), or build from a preset that carries its models.",
      { reason: "no model set" },
    );
  }
  const fallbacks = settings.fallbacks ?? preset.fallbacks ?? [];
  const memoryModel = settings.memoryModel ?? preset.memory ?? primary;
  for (const model of [primary, ...fallbacks, memoryModel]) models.ready?.resolve(model);
  return { models: [primary, ...fallbacks], memoryModel };
}

function noAccess(user: string, sessionId: SessionId): AgenticError {
  return new AgenticError("session", `The user "${user}" may not use the session "${sessionId}".`, {
    reason: "access denied",
  });
}

function notFound(sessionId: SessionId): AgenticError {
  return new AgenticError("sessionNotFound", `There is no session "${sessionId}" in the store.`, { sessionId });
}
