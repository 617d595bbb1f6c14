import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ModelEvent } from "@shedkit/provider";
import { rechunkFetch, ScriptedServer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { connect, outputs, question } from "./open.js";

/** A folder with `openai-chat/*.chunks.txt`: recorded streams, one JSON event a line. Without it there is nothing to do. */
const folder = process.env.SHEDKIT_RECORDED_STREAMS;
const files = folder === undefined ? [] : readdirSync(path.join(folder, "openai-chat"));

interface Chunk {
  choices?: {
    delta?: { content?: string; reasoning_content?: string; tool_calls?: { function?: { arguments?: string } }[] };
  }[];
}

describe.skipIf(files.length === 0)("recorded streams", () => {
  it.each(files)("%s is read whole, wherever it is cut", async (file) => {
    const events = readFileSync(path.join(folder ?? "", "openai-chat", file), "utf8").split("\n");
    const deltas = events.filter(Boolean).map((line) => (JSON.parse(line) as Chunk).choices?.[0]?.delta);
    const said = (field: "content" | "reasoning_content") => deltas.map((delta) => delta?.[field] ?? "").join("");
    const args = deltas
      .flatMap((delta) => delta?.tool_calls?.map((call) => call.function?.arguments ?? "") ?? [])
      .join("");

    const whole = await read(events, undefined);
    expect(whole.at(-1)?.type).toBe("finish");
    const got = outputs(whole) as { type: string; text?: string; arguments?: object }[];
    const text = (type: string) => got.filter((output) => output.type === type).map((output) => output.text);
    expect(text("text").join("")).toBe(said("content"));
    expect(text("thinking").join("")).toBe(said("reasoning_content"));
    expect(
      got.filter((output) => output.type === "toolCall").map((output) => JSON.stringify(output.arguments)),
    ).toEqual(args === "" ? [] : [JSON.stringify(JSON.parse(args))]);
    for (const sizes of [[1], [3, 1, 50, 7], [1000]]) expect(await read(events, sizes)).toEqual(whole);
  });
});

async function read(events: string[], sizes: number[] | undefined): Promise<ModelEvent[]> {
  await using server = await ScriptedServer.start([{ events }]);
  const provider = connect(server, "compatible", sizes && { fetch: rechunkFetch(sizes) });
  const all: ModelEvent[] = [];
  for await (const event of provider.stream(question())) all.push(event);
  return all;
}
