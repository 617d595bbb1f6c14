// One worker. Its address is printed: it is for the balancer before all workers, not for Restate.
import process from "node:process";
import { serveDurable } from "@shedkit/durable-restate";
import { openAgent } from "./agent.ts";

const { DATABASE_URL = "", RESTATE_INGRESS = "" } = process.env;
const { agent } = await openAgent(DATABASE_URL);
const { url } = await serveDurable([agent], { ingress: RESTATE_INGRESS, streamsPerConnection: 4 });
console.log(url);
