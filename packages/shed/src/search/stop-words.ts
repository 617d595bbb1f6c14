/** The closed word classes of English: they join the words that say what is wanted. By class, without forms of "not". */
const CLASSES = [
  "a an the this that these those each every some any all both either neither such same other another",
  "i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself",
  "it its itself they them their theirs themselves one ones someone something anyone anything everyone everything",
  "who whom whose which what when where why how there here",
  "and or but nor so yet if then else than because while although though unless until whether as",
  "of in on at to from by with without about into onto over under between among through during before after",
  "above below up down out off for against per via within upon toward towards across along around",
  "am is are was were be been being do does did doing done have has had having",
  "can could may might must shall should will would",
  "very too also just only even still again ever more most much many few less least own now please",
];

export const STOP_WORDS: ReadonlySet<string> = new Set(CLASSES.join(" ").split(" "));
