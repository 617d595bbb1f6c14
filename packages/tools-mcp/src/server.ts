export type { ServedCall, ServeHttpOptions, ServeShedOptions } from "./server/options.js";
export { type ServedShed, serveShed } from "./server/serve.js";
