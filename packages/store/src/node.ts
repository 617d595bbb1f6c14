export { isProcessAlive, processName } from "./node/process-name.js";
