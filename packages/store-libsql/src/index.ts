export { LibsqlStorage } from "./storage.js";
