import { FnTool, type Reminder, Resources, ToolCallResult, type ToolContext } from "@shedkit/tool";
import { bindTool } from "@shedkit/toolset";
import { describe, expect, test, vi } from "vitest";
import { Reminders } from "../src/reminders.js";

const tool = bindTool(new FnTool("say", "", { type: "object" }, async () => ""));
const ctx: ToolContext = {
  callId: "c",
  signal: new AbortController().signal,
  resources: new Resources(),
  names: { tool: "say", param: (name) => name, toolOf: () => undefined, paramOf: () => undefined },
  notify: () => {},
};

function collect(...answers: Reminder["collect"][]): string | Promise<string> {
  const reminders = answers.map((answer, i) => ({ id: `r${i}`, priority: -i, collect: answer }));
  return new Reminders({ reminders }).collect(tool, ctx, ToolCallResult.text("out"));
}

const said = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`;

describe("reminders that answer at once", () => {
  test("are told without a promise, and without a timer", () => {
    const timer = vi.spyOn(globalThis, "setTimeout");
    expect(
      collect(
        () => [],
        () => [],
      ),
    ).toBe("");
    expect(
      collect(
        () => [{ key: "k", text: "1" }],
        () => [{ key: "k", text: "2" }],
      ),
    ).toBe(`${said("1")}\n\n${said("2")}`);
    expect(timer).not.toHaveBeenCalled();
    timer.mockRestore();
  });

  test("say nothing where they throw", () => {
    const throwing = () => {
      throw new Error("x");
    };
    expect(collect(throwing, () => [{ key: "k", text: "1" }])).toBe(said("1"));
  });

  test("are told in order with those that take a while", async () => {
    const later = async () => [{ key: "k", text: "1" }];
    expect(await collect(later, () => [{ key: "k", text: "2" }])).toBe(`${said("1")}\n\n${said("2")}`);
  });
});
