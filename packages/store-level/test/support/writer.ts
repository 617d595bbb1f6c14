// A process of its own that appends until it is killed. Arguments: folder, session.
import { writeUntilKilled } from "@shedkit/store/conformance";
import type { SessionId } from "@shedkit/types";
import { LevelDocumentStore, LevelStorage } from "../../src/index.js";

const [folder = "", session = ""] = process.argv.slice(2);
const store = new LevelDocumentStore(await LevelStorage.open(folder));
await writeUntilKilled(store, session as SessionId, (line) => console.log(line));
