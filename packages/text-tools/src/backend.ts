/** What backends of local models share around a family's text: events of an answer, stop strings, loads. */
export { AnswerBlocks } from "./backend/answer-blocks.js";
export type { CodeRange } from "./backend/gbnf-syntax.js";
export { GrammarMatcher } from "./backend/grammar-matcher.js";
export { type Loader, type LoadProgress, ModelLoads } from "./backend/model-loads.js";
export { type ModelTalk, ModelTemplates } from "./backend/model-templates.js";
export { raceAbort } from "./backend/race.js";
export { reported } from "./backend/reported.js";
export { RunningAnswers } from "./backend/running-answers.js";
export { StopStrings } from "./backend/stop-strings.js";
