export { LocalOwner } from "./node/local-owner.js";
export { makeFolder } from "./node/make-folder.js";
export { isProcessAlive, processName } from "./node/process-name.js";
