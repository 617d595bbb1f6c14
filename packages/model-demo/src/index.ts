import { fileURLToPath } from "node:url";

/** Where the model file is: an absolute path. */
export const demoModelPath: string = fileURLToPath(new URL("../model/shed-demo-3m-q8_0.gguf", import.meta.url));

/** What the model file must hash to: SHA-256, in hexadecimal digits. */
export const demoModelSha256 = "1722e0ce2fcee82a4c26308e27e353091b404ae94d86002ea00648fba2595305";

/** In bytes. */
export const demoModelSize = 3_084_928;

/** What the model can and cannot do, in a line that a program can show. */
export const demoModelSummary =
  "a 3 MB demonstration model: it looks up values, titles and lines in files, lists, counts, calculates and remembers; " +
  "it is often wrong and knows nothing";

/** What a session needs of its host for this model, as the parts of `AgentSessionBuilder` take it. */
export const demoModelSettings = {
  /** It takes nothing to heart that it is told on the way. */
  config: { modelParams: { temperature: 0, maxTokens: 160 }, contextPressureThreshold: 0 },
  /** Its window of 2,048 tokens holds the conversation, the tools and what they return. */
  context: { window: 1700, keepRecentTokens: 300, summaryTokens: 60 },
  memory: { observationTriggerTokens: 0, reflectionTriggerTokens: 0 },
  /** Where there is no tool for what is asked it may look for one again and again. */
  loopDetection: { toolCallMaxRepeats: 2, maxRedirects: 0, temperatureDelta: 0, detectVacuousAnswers: false },
  maxSteps: 8,
} as const;
