export { type ListeningShed, listenHttp, type ShedListenOptions, serveStdio } from "./server/node.js";
