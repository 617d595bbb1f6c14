import {
  callableTools,
  gemma3,
  gemma4,
  glm,
  hermes,
  mistral,
  mistralArgs,
  qwenCoder,
  type TextEvent,
  type TextToolFamily,
} from "@shedkit/text-tools";
import { expect, test } from "vitest";
import type { ToolCallRequest } from "../src/index.js";
import { collect, manager, tool } from "./parts.js";

/** How a model of the family writes a call. */
type Write = (path: string, after: string | undefined) => string;

const json = (path: string, after: string | undefined) =>
  `{"path": "${path}"${after === undefined ? "" : `, "_after": ${after}`}}`;
const named = (path: string, after: string | undefined) => `{"name": "look", "arguments": ${json(path, after)}}`;

const families: [TextToolFamily, Write, between?: string][] = [
  [hermes, (path, after) => `<tool_call>\n${named(path, after)}\n</tool_call>`],
  [gemma3, (path, after) => `\`\`\`tool_call\n${named(path, after)}\n\`\`\``],
  [mistralArgs, (path, after) => `[TOOL_CALLS]look[ARGS]${json(path, after)}`, ""],
  [
    gemma4,
    (path, after) =>
      `<|tool_call>call:look{${after === undefined ? "" : `_after:${after},`}path:<|"|>${path}<|"|>}<tool_call|>`,
    "",
  ],
  [
    qwenCoder,
    (path, after) =>
      `<tool_call>\n<function=look>\n<parameter=path>\n${path}\n</parameter>\n${
        after === undefined ? "" : `<parameter=_after>\n${after}\n</parameter>\n`
      }</function>\n</tool_call>`,
  ],
  [
    glm,
    (path, after) =>
      `<tool_call>look\n<arg_key>path</arg_key>\n<arg_value>${path}</arg_value>\n${
        after === undefined ? "" : `<arg_key>_after</arg_key>\n<arg_value>${after}</arg_value>\n`
      }</tool_call>`,
  ],
];

async function ran(family: TextToolFamily, answer: string): Promise<string[]> {
  const order: string[] = [];
  const run = (args: object) => {
    order.push(JSON.stringify(args));
    return "done";
  };
  const session = manager([tool("look", { readOnly: true, run })], { ordering: true });
  session.activate(["look"]);
  const parser = family.parser({ tools: callableTools(session.offeredTools()) });
  const events = [...Array.from(answer).flatMap((piece) => parser.push(piece)), ...parser.end()];
  const outcomes = await collect(session.runCalls(requestsOf(events), { offeredOnly: true }));
  expect(outcomes.map(({ promptText }) => promptText)).toEqual(outcomes.map(() => "done"));
  return order;
}

function requestsOf(events: readonly TextEvent[]): ToolCallRequest[] {
  return events
    .filter((event) => event.type === "call")
    .map(({ name, arguments: args, rawArguments }, i) => ({
      id: `c${i}`,
      name,
      arguments: args ?? {},
      ...(rawArguments !== undefined && { rawArguments }),
    }));
}

const inOrder = ["b", "a", "c"].map((path) => JSON.stringify({ path }));

test.each(families.map((each) => [each[0].id, ...each] as const))(
  "a batch that a model orders runs in that order, written as %s",
  async (_, family, write, between = "\n") => {
    const answer = [write("a", "[1]"), write("b", undefined), write("c", "[0]")].join(between);
    expect(await ran(family, answer)).toEqual(inOrder);
  },
);

test("also in a list of calls", async () => {
  const calls = [named("a", "[1]"), named("b", "[]"), named("c", '"0"')];
  expect(await ran(mistral, `[TOOL_CALLS][${calls.join(", ")}]`)).toEqual(inOrder);
});
