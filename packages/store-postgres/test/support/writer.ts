// A process of its own that appends until it is killed. Arguments: database URL, session.
import { SqlDocumentStore } from "@shedkit/store";
import { writeUntilKilled } from "@shedkit/store/conformance";
import type { SessionId } from "@shedkit/types";
import { PostgresStorage } from "../../src/index.js";

const [url = "", session = ""] = process.argv.slice(2);
const store = new SqlDocumentStore(await PostgresStorage.open(url));
await writeUntilKilled(store, session as SessionId, (line) => console.log(line));
