export { LocalOwner } from "./node/local-owner.js";
export { isProcessAlive, processName } from "./node/process-name.js";
