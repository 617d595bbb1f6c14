export { type SpawnOptions, spawnServer, spawnWith } from "./node/spawn.js";
