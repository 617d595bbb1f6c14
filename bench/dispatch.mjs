import { ToolCallManager } from "@shedkit/shed";
import { FnTool, ToolCallResult } from "@shedkit/tool";
import { newSessionId } from "@shedkit/types";
import { percentile } from "./lib/data.mjs";

const schema = {
  type: "object",
  properties: { path: { type: "string" }, limit: { type: "integer" } },
  required: ["path"],
  additionalProperties: false,
};
const manager = new ToolCallManager(newSessionId());
const nothing = ToolCallResult.text("");
manager.register(new FnTool("nothing", "Does nothing.", schema, async () => nothing));

let calls = 0;
const one = () => manager.executeOne({ id: `${++calls}`, name: "nothing", arguments: { path: "a.txt", limit: 3 } });
for (let i = 0; i < 20_000; i++) await one();
const times = [];
for (let i = 0; i < 20_000; i++) {
  const start = performance.now();
  await one();
  times.push((performance.now() - start) * 1000);
}
console.log(`One call of a tool that does nothing: find, validate, run, post-process`);
console.log(`  p50 ${percentile(times, 0.5).toFixed(1)} us, p99 ${percentile(times, 0.99).toFixed(1)} us`);
for (const count of [1000, 2000, 4000, 8000]) {
  const start = performance.now();
  for (let i = 0; i < count; i++) await one();
  console.log(`  ${count} calls: ${(((performance.now() - start) * 1000) / count).toFixed(1)} us each`);
}
