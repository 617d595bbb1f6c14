import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ModelEvent } from "@shedkit/provider";
import { rechunkFetch, ScriptedServer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { connect, outputs, question } from "./open.js";

/** A folder with `anthropic/*.chunks.txt`: recorded streams, one JSON event a line. Without it there is nothing to do. */
const folder = process.env.SHEDKIT_RECORDED_STREAMS;
const files = folder === undefined ? [] : readdirSync(path.join(folder, "anthropic"));

interface Event {
  type: string;
  delta?: { text?: string; thinking?: string };
  content_block?: { type: string };
}

/** A file may hold several answers; each begins with its start, and a start right behind another is the same one. */
function answersOf(text: string): string[][] {
  const answers: string[][] = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const last = answers.at(-1);
    if (last === undefined || last.some((event) => event.includes('"message_stop"'))) answers.push([line]);
    else last.push(line);
  }
  return answers;
}

describe.skipIf(files.length === 0)("recorded streams", () => {
  it.each(files)("%s is read whole, wherever it is cut", async (file) => {
    for (const events of answersOf(readFileSync(path.join(folder ?? "", "anthropic", file), "utf8"))) {
      const wire = events.map((line) => JSON.parse(line) as Event);
      const said = (field: "text" | "thinking") => wire.map(({ delta }) => delta?.[field] ?? "").join("");
      const blocks = wire.flatMap(({ content_block }) => content_block?.type ?? []);

      const whole = await read(events, undefined);
      expect(whole.at(-1)?.type).toBe("finish");
      const got = outputs(whole) as { type: string; text?: string }[];
      const text = (type: string) => got.filter((output) => output.type === type).map((output) => output.text);
      expect(text("text").join("")).toBe(said("text"));
      expect(text("thinking").join("")).toBe(said("thinking"));
      expect(got.filter(({ type }) => type === "toolCall")).toHaveLength(
        blocks.filter((type) => type === "tool_use").length,
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
