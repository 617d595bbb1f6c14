import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ModelEvent } from "@shedkit/provider";
import { rechunkFetch, ScriptedServer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { connect, outputs, question } from "./open.js";

/** A folder with `openai-responses/*.chunks.txt`: recorded streams, one JSON event a line. Without it there is nothing to do. */
const folder = process.env.SHEDKIT_RECORDED_STREAMS;
const files = folder === undefined ? [] : readdirSync(path.join(folder, "openai-responses"));

interface Event {
  type: string;
  delta?: string;
  item?: { type: string };
}

/** A file may hold several answers. */
function answersOf(text: string): string[][] {
  const answers: string[][] = [];
  for (const line of text.split("\n").filter((one) => one.startsWith("{"))) {
    if (answers.length === 0 || line.startsWith('{"type":"response.created"')) answers.push([line]);
    else answers.at(-1)?.push(line);
  }
  return answers;
}

describe.skipIf(files.length === 0)("recorded streams", () => {
  it.each(files)("%s is read whole, wherever it is cut", async (file) => {
    for (const events of answersOf(readFileSync(path.join(folder ?? "", "openai-responses", file), "utf8"))) {
      const wire = events.map((line) => JSON.parse(line) as Event);
      const said = wire.map(({ type, delta }) => (type === "response.output_text.delta" ? delta : "")).join("");
      const done = wire.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item?.type);
      const failed = wire.some(({ type }) => type === "error" || type === "response.failed");

      const whole = await read(events, undefined);
      expect(whole.at(-1)?.type).toBe(failed ? "failure" : "finish");
      const got = outputs(whole) as { type: string; text?: string }[];
      const texts = got.filter((output) => output.type === "text").map((output) => output.text);
      expect(texts.join("")).toBe(said);
      expect(got.filter(({ type }) => type === "toolCall")).toHaveLength(
        done.filter((type) => type === "function_call").length,
      );
      for (const sizes of [[1], [3, 1, 50, 7], [1000]]) expect(await read(events, sizes)).toEqual(whole);
    }
  });
});

async function read(events: string[], sizes: number[] | undefined): Promise<ModelEvent[]> {
  await using server = await ScriptedServer.start([{ events }]);
  const provider = connect(server, "compatible", sizes && { fetch: rechunkFetch(sizes) });
  const all: ModelEvent[] = [];
  for await (const event of provider.stream(question())) all.push(event);
  return all;
}
