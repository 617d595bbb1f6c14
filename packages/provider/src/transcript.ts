export { interruptedResult, type NormalizeOptions, normalizeTranscript } from "./transcript/normalize.js";
export { alternateTurns, type TranscriptTurn } from "./transcript/turns.js";
export { wellFormed, wellFormedJson } from "./transcript/well-formed.js";
export { type IdRule, idRules, WireIds } from "./transcript/wire-ids.js";
export { countMedia, withoutMedia } from "./transcript/without-media.js";
