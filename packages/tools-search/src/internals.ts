export type { LineForm } from "./grep.js";
export { accessTo as accessToPlaces } from "./places.js";
export { searchFiles } from "./search-file.js";
