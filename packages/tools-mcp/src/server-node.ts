export { type ListeningShed, type ListenOptions, listenHttp, serveStdio } from "./server/node.js";
