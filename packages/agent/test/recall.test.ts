import { MemoryDocumentStore } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import type { Embedder, SessionId } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { echoTool, sessionOf } from "./helpers.js";

/** Two texts are near where they speak of the same of a few things. */
class TopicEmbedder implements Embedder {
  readonly id = "topics";
  readonly embedded: string[] = [];
  fails = false;
  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (this.fails) throw new Error("The embedder is down.");
    this.embedded.push(...texts);
    const topics = [/cat|kitten|feline/i, /car|engine|wheel/i, /bread|flour|oven/i];
    return texts.map((text) => Float32Array.from(topics, (topic) => (topic.test(text) ? 1 : 0.01)));
  }
}

async function talk(...answers: string[]) {
  const session = await sessionOf(new ScriptedProvider(answers), echoTool()).build();
  for (const [i] of answers.entries()) await session.ask(`Question ${i}`);
  return session;
}

describe("recall by words", () => {
  it("looks through the whole log, for each word by itself, rare ones first", async () => {
    const answers = Array.from({ length: 60 }, (_, i) => `The answer to number ${i} is plain.`);
    const session = await talk("The password of the garden gate is tulip.", ...answers);
    const hits = await session.contextProvider.search("which password has the gate");
    expect(hits[0]).toMatchObject({ source: "message", content: "The password of the garden gate is tulip." });
    expect(hits[0]?.score).toBeGreaterThan(0);
    expect(hits[0]?.score).toBeLessThanOrEqual(1);
    const scores = hits.map((hit) => hit.score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  it("is the same through a store that can search and one that cannot", async () => {
    class Plain extends MemoryDocumentStore {}
    Object.defineProperty(Plain.prototype, "search", { value: undefined });
    const found = await Promise.all(
      [new MemoryDocumentStore(), new Plain()].map(async (store) => {
        const session = await sessionOf(new ScriptedProvider(["Tulips are red.", "Roses too."]))
          .withDocStore(store)
          .build();
        await session.ask("What of tulips?");
        await session.ask("And roses?");
        return (await session.contextProvider.search("tulips", { mode: "semantic" })).map((hit) => hit.content);
      }),
    );
    expect(found[0]).toEqual(["Tulips are red.", "What of tulips?"]);
    expect(found[1]).toEqual(found[0]);
  });

  it("finds nothing for nothing, and keeps to its limit", async () => {
    const session = await talk("a b c", "a b", "a");
    expect(await session.contextProvider.search(" ")).toEqual([]);
    expect(await session.contextProvider.search("zzz")).toEqual([]);
    expect(await session.contextProvider.search("a", { limit: 2 })).toHaveLength(2);
    expect(await session.contextProvider.search("a", { mode: "graph" })).toEqual([]);
  });
});

describe("recall with an embedder", () => {
  it("finds what means the same, and embeds each text once", async () => {
    const embedder = new TopicEmbedder();
    const session = await sessionOf(new ScriptedProvider(["The kitten sleeps.", "The engine is loud."]))
      .withEmbedder(embedder)
      .withSessionId("s" as SessionId)
      .build();
    await session.ask("One");
    await session.ask("Two");
    const [first] = await session.contextProvider.search("feline", { mode: "semantic" });
    expect(first?.content).toBe("The kitten sleeps.");
    const before = embedder.embedded.length;
    const [second] = await session.contextProvider.search("wheel");
    expect(second?.content).toBe("The engine is loud.");
    expect(embedder.embedded.length).toBe(before + 1); // the query alone
  });

  it("falls back to words where the embedder fails", async () => {
    const embedder = new TopicEmbedder();
    const session = await sessionOf(new ScriptedProvider(["The kitten sleeps."]))
      .withEmbedder(embedder)
      .build();
    await session.ask("One");
    embedder.fails = true;
    expect((await session.contextProvider.search("kitten"))[0]?.content).toBe("The kitten sleeps.");
  });
});
