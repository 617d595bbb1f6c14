import { type Reminder, Resources, ToolCallResult, type ToolContext } from "@shedkit/tool";
import { expect, it } from "vitest";
import { lazyReminder } from "../src/lazy-reminder.js";

const ctx: ToolContext = {
  callId: "c",
  signal: new AbortController().signal,
  resources: new Resources(),
  names: { tool: "x", param: (name) => name, toolOf: () => undefined, paramOf: () => undefined },
  notify: () => {},
};

it("a reminder that is made when it is first asked answers at once from then on, if it can", async () => {
  let made = 0;
  const reminder: Reminder = lazyReminder({ id: "r" }, async () => {
    made++;
    return { collect: () => [{ key: "k", text: "told" }] };
  });
  const ask = () => reminder.collect(ctx, ToolCallResult.text(""));
  const [first, second] = [ask(), ask()];
  expect(await first).toEqual([{ key: "k", text: "told" }]);
  expect(await second).toEqual([{ key: "k", text: "told" }]);
  expect(ask()).toEqual([{ key: "k", text: "told" }]);
  expect(made).toBe(1);
});
