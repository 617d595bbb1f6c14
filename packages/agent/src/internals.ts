/**
 * What a session is made of, for engines that run its loop elsewhere. No promise of stability: any version may change
 * any of it.
 */
export { answerFrom } from "./answer.js";
export { settingsOf, withEngine } from "./builder.js";
export { mapped } from "./channel.js";
export { AgentContext, type ContextParts } from "./context.js";
export { inProcessEffects, type LoopEffects } from "./effects.js";
export { EventMapper } from "./events.js";
export { SessionLog } from "./log.js";
export { AgentLoop } from "./loop.js";
export { type LoopDetection, LoopDetector } from "./loop-detection.js";
export type { AgentLoopState, LoopParts, TurnSpec } from "./loop-state.js";
export { MemoryCoordinator } from "./memory-coordinator.js";
export { Models, presetModels } from "./models.js";
export { Recall } from "./recall.js";
export { mend, readState } from "./replay.js";
export { type OpenCall, type QueuedMessage, SessionState } from "./session-state.js";
export type { SessionEngine, Settings } from "./settings.js";
export { structuredAnswer } from "./structured.js";
export { turnOf } from "./subscription.js";
export { TextSoFar } from "./turn-stream.js";
