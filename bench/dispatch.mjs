import { ToolCallManager } from "@shedkit/shed";
import { FnTool, ToolCallResult } from "@shedkit/tool";
import { newSessionId } from "@shedkit/types";
import { percentile } from "./lib/data.mjs";
import { number, report } from "./lib/report.mjs";

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
const rows = [
  ["p50, us", number(percentile(times, 0.5))],
  ["p99, us", number(percentile(times, 0.99))],
];
const data = { p50: percentile(times, 0.5), p99: percentile(times, 0.99), growth: {} };
for (const count of [1000, 2000, 4000, 8000]) {
  const start = performance.now();
  for (let i = 0; i < count; i++) await one();
  data.growth[count] = ((performance.now() - start) * 1000) / count;
  rows.push([`${count.toLocaleString("en")} calls, us each`, number(data.growth[count])]);
}
report("dispatch", {
  data,
  tables: [
    {
      key: "dispatch",
      title: "A call of a tool that does nothing: find, validate, run, post-process",
      head: ["", "measured"],
      rows,
    },
  ],
});
