// A turn in a process of its own, to be killed. Arguments: the kind of store, the folder for the store and the marks,
// the session, where the store's server is, and the moment, with its number, at which to ask for the kill.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { killable, type Moment, story } from "./parts.js";
import type { StoreKind } from "./stores.js";

const [kind = "", folder = "", sessionId = "", server = "", moment = "", number = "1"] = process.argv.slice(2);
let left = Number(number);
/** Asks for the kill, and waits for it. */
const at = (reached: Moment) => {
  if (reached !== moment || --left !== 0) return undefined;
  console.log("now");
  return new Promise<void>((resolve) => setTimeout(resolve, 600_000));
};
const { builder, close } = await killable({ kind: kind as StoreKind, folder, sessionId, server }, story(), { at });
const session = await builder.build();
let steps = 0;
console.log("begins");
const turn = session.runTurnStream("The question");
for await (const item of turn) {
  if (item.type !== "record") continue;
  const { record } = item;
  // The one record that no store holds: that of the store's own failure, which also ends this process with an error.
  if (record.type === "failedAction" && record.error.code === "store") continue;
  appendFileSync(join(folder, "shown"), `${record.id} ${record.type}\n`);
  if (record.type !== "step") continue;
  steps++;
  if (steps === 2) session.followUp("And this?");
  if (steps === 5) session.steer("Faster");
}
const { failure } = await turn.done();
if (failure) throw failure;
console.log("ends");
await session.end();
await close();
