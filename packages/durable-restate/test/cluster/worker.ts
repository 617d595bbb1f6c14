// A worker in a process of its own, to be killed. Arguments: the agent's name, the database, the folder for marks, the
// ingress, the version of the code.
import { SqlDocumentStore } from "@shedkit/store";
import { PostgresStorage } from "@shedkit/store-postgres";
import { durable, serveDurable } from "../../src/index.js";
import { storyAgent } from "./story.js";

const [name = "", database = "", folder = "", ingress = "", version = "1"] = process.argv.slice(2);
const store = new SqlDocumentStore(await PostgresStorage.open(database));
const agent = durable({ name, agent: storyAgent(store, folder, version) });
const { url } = await serveDurable([agent], { ingress, streamsPerConnection: 8 });
console.log(new URL(url).port);
