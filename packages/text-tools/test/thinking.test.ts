import type { ModelParams, ModelRequest } from "@shedkit/provider";
import { Messages } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import {
  ChatTemplate,
  glm,
  harmony,
  hermes,
  promptedTags,
  type TextToolFamily,
  thinkingBudget,
  thinkingOptions,
} from "../src/index.js";

const SHOWN =
  "{{ enable_thinking is defined and enable_thinking }}|{{ thinking is defined and thinking }}|{{ reasoning_effort }}";
/** Knows every effort, or only one, or none. */
const any = new ChatTemplate(SHOWN);
const one = new ChatTemplate('{{ "High" if reasoning_effort == "high" else "Max" }}');
const none = new ChatTemplate("{{ enable_thinking }}");

const request = (thinking: ModelParams["thinking"]): ModelRequest => ({
  model: { name: "m" },
  messages: [],
  tools: { tools: [], activations: [] },
  params: { thinking },
});
const budget = (thinking: ModelParams["thinking"], template: ChatTemplate, family: TextToolFamily = hermes) =>
  thinkingBudget(request(thinking), family, template).budget;
const told = (thinking: ModelParams["thinking"], template: ChatTemplate, family: TextToolFamily = hermes) =>
  family
    .render(
      { messages: [Messages.user("Hi")], tools: { tools: [], activations: [] } },
      template,
      thinkingOptions(thinking),
    )
    .toLowerCase();

describe("how long to think", () => {
  it("is told by the template where it knows the effort", () => {
    expect(told("low", any, harmony)).toBe("true|true|low");
    expect(told("high", any)).toBe("true|true|high");
    expect(told("off", any)).toMatch(/^false\|false\|/);
    expect(told({ budgetTokens: 5 }, any)).toMatch(/^true\|true\|(?!low|medium|high)/);
    expect(told({ budgetTokens: 0 }, any)).toMatch(/^false\|/);
    expect([budget("low", any), budget("medium", any), budget("high", any)]).toEqual([Infinity, Infinity, Infinity]);
  });

  it("is a number of tokens where it does not", () => {
    const low = budget("low", none);
    const medium = budget("medium", none);
    expect(low).toBeGreaterThan(0);
    expect(medium).toBeGreaterThan(low);
    expect([budget("high", none), budget("off", none), budget(undefined, none)]).toEqual([
      Infinity,
      Infinity,
      Infinity,
    ]);
    expect(thinkingBudget(request("low"), hermes, none).end).toBe("</think>");
    expect(budget("low", one)).toBe(low);
  });

  it("is what the request says, in tokens, whatever the template knows", () => {
    expect(budget({ budgetTokens: 7 }, any)).toBe(7);
  });

  it("is told in the template's words, where they are others", () => {
    expect([told("low", one, glm), told("medium", one, glm), told("high", one, glm)]).toEqual(["high", "high", "max"]);
  });

  it("is unbounded in families that do not think", () => {
    const family = { ...promptedTags, thinkingEnd: undefined };
    expect(thinkingBudget(request("low"), family, none)).toEqual({ budget: Infinity, end: "" });
  });
});
