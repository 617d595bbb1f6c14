import { defineCommands, defineTool } from "@shedkit/tool";
import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { ToolSetBuilder, ToolSetError } from "../src/index.js";

/** A command with two settings, which it answers with. */
const command = (id: string) =>
  defineTool({
    id,
    kind: "other",
    description: id,
    input: Type.Object({}),
    params: {
      schema: Type.Object({ most: Type.Integer(), loud: Type.Boolean() }, { additionalProperties: false }),
      defaults: { most: 1, loud: false },
    },
    run: (_, ctx) => JSON.stringify(ctx.params),
  });

const builder = () =>
  new ToolSetBuilder().tool(
    defineCommands({ name: "job", commands: { start: command("start"), stop: command("stop") } }),
  );

async function settings(params: { [key: string]: never }): Promise<unknown[]> {
  const set = await builder().build({ tools: [{ id: "job", params }] });
  const run = async (command: string) =>
    (await set.dispatcher().run({ id: "c", name: "job", arguments: { command } })).promptText;
  const answers = [JSON.parse(await run("start")), JSON.parse(await run("stop"))];
  await set.close();
  return answers;
}

describe("settings of a tool's commands", () => {
  const standard = { most: 1, loud: false };

  it.each([
    [{}, standard],
    [{ start: {} }, standard],
    [{ start: { most: 5 } }, { most: 5, loud: false }],
    [{ start: { loud: true, most: 5 } }, { most: 5, loud: true }],
  ])("are laid over those that the command has: %j", async (params, start) => {
    expect(await settings(params as never)).toEqual([start, standard]);
  });

  it.each([
    [{ start: 5 }, "params.start", "params_type"],
    [{ start: null }, "params.start", "params_type"],
    [{ start: [] }, "params.start", "params_type"],
    [{ start: { most: "5" } }, "params.start.most", "params_type"],
    [{ start: { mots: 5 } }, "params.start.mots", "params_unknown_field"],
    [{ strat: {} }, "params.strat", "params_unknown_field"],
    [{ constructor: {} }, "params.constructor", "params_unknown_field"],
  ])("are refused where they cannot be, by the place: %j", async (params, fieldPath, category) => {
    const problems = await settings(params as never).then(
      () => [],
      (error: unknown) => (error instanceof ToolSetError ? error.problems : [error]),
    );
    expect(problems).toMatchObject([{ fieldPath, category }]);
  });
});
