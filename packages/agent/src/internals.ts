/**
 * What a session is made of, for engines that run its loop elsewhere. No promise of stability: any version may change
 * any of it.
 */

export { settingsOf, withEngine } from "./builder.js";
export { AgentContext, type ContextParts } from "./context/context.js";
export { SessionLog } from "./log/log.js";
export { mend, readState } from "./log/replay.js";
export { type OpenCall, type QueuedMessage, SessionState } from "./log/session-state.js";
export { inProcessEffects, type LoopEffects } from "./loop/effects.js";
export { AgentLoop } from "./loop/loop.js";
export { type LoopDetection, LoopDetector } from "./loop/loop-detection.js";
export type { AgentLoopState, LoopParts, TurnSpec } from "./loop/state.js";
export { MemoryCoordinator } from "./memory/coordinator.js";
export { Recall } from "./memory/recall.js";
export { Models, presetModels } from "./models.js";
export type { SessionEngine, Settings } from "./settings.js";
export { answerFrom } from "./turn/answer.js";
export { mapped } from "./turn/channel.js";
export { EventMapper } from "./turn/events.js";
export { structuredAnswer } from "./turn/structured.js";
export { turnOf } from "./turn/subscription.js";
export { TextSoFar } from "./turn/turn-stream.js";
