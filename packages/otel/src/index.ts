export { type OtelOptions, otelObserver } from "./observer.js";
