import type { Embedder, Tool } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { best } from "../src/search/best.js";
import { ToolDiscovery } from "../src/search/discovery.js";
import { fieldsOf } from "../src/search/fields.js";
import { stem, wordsOf } from "../src/search/words.js";

function tool(name: string, description: string): Tool {
  return { type: "single", definition: { name, category: "c", description, arguments: { type: "object" } } };
}

async function find(tools: readonly Tool[], query: string, limit = 5): Promise<string[]> {
  const discovery = new ToolDiscovery();
  for (const each of tools) discovery.add(each);
  return (await discovery.search(query, limit)).map(({ name }) => name);
}

describe("words", () => {
  test.each([
    ["readFile read_file HTTPServer v2.0", ["read", "file", "read", "file", "http", "server", "v", "2", "0"]],
    ["What's the user's plan?", ["what", "the", "user", "plan"]],
    ["Größe café naïve", ["große", "cafe", "naive"]],
    ["поиск файла", ["поиск", "файла"]],
    ["天気予報", ["天気", "気予", "予報"]],
    ["", []],
    ["!?… \u0000\ud800", []],
  ])("%j", (text, words) => {
    expect(wordsOf(text)).toEqual(words.map((word) => word.normalize("NFKD").replace(/\p{M}/gu, "")));
  });

  test("a text of ASCII has the same words by the short way and by the long one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 60 }), (text) => {
        expect(wordsOf(text)).toEqual(wordsOf(`${text} ж`).slice(0, -1));
      }),
    );
  });

  test("forms of one word share their stem", () => {
    expect(new Set(["calculate", "calculates", "calculating", "calculation"].map(stem)).size).toBe(1);
  });
});

describe("what of a tool is searched", () => {
  test("arguments at any depth, within bounds, whatever the schema", () => {
    const deep = { type: "object", properties: {} };
    Object.assign(deep.properties, { self: deep });
    const odd = { properties: { a: null, b: 5, c: { description: 7, items: { properties: { d: {} } } }, self: deep } };
    const fields = fieldsOf({
      type: "single",
      definition: { name: "n", category: "c", description: "d", arguments: odd },
    });
    expect(fields.argumentNames).toBe("a b c d self self self self self");
  });

  test("a tool of several commands is found by each of them", async () => {
    const commands = ["add", "remove"].map((name) => ({
      name,
      category: "memory",
      description: name === "add" ? "Keeps a fact." : "Forgets a fact.",
      arguments: { type: "object" },
    }));
    const memory: Tool = { type: "multi", name: "memory", commands };
    expect(await find([memory, tool("clock", "Tells the time.")], "forget something", 1)).toEqual(["memory"]);
  });
});

describe("a search", () => {
  const everyday = [
    tool("forecast", "Tells the weather of the coming days."),
    tool("cinema", "Lists the movies that theaters show."),
    tool("bank", "Sends money to an account."),
    tool("doctor", "Books an appointment with a physician."),
    tool("rooms", "Finds apartments for rent."),
  ];

  test.each([
    ["is it going to rain?", "forecast"],
    ["watch a film", "cinema"],
    ["pay my invoice", "bank"],
    ["I need to see a surgeon", "doctor"],
    ["a house to live in", "rooms"],
  ])("finds what is meant by other words: %s", async (query, name) => {
    expect((await find(everyday, query))[0]).toBe(name);
  });

  test.each([
    ["calcualtor", "calculator"],
    ["weatherforecast", "forecast"],
    ["forecasting", "forecast"],
  ])("finds words that are written alike: %s", async (query, name) => {
    expect((await find([...everyday, tool("calculator", "Does sums.")], query))[0]).toBe(name);
  });

  test("an exact name comes first, whatever else fits", async () => {
    const tools = [...everyday, tool("rain", "x"), tool("Rain_2", "rain rain rain"), tool("rains", "rain, rain")];
    expect((await find(tools, "rain"))[0]).toBe("rain");
    expect((await find(tools, " RAIN_2 "))[0]).toBe("Rain_2");
  });

  test("finds nothing for nothing, and nothing by words nobody knows", async () => {
    expect(await find(everyday, "")).toEqual([]);
    expect(await find(everyday, "qqqq zzzz")).toEqual([]);
    expect(await find(everyday, "rain", 0)).toEqual([]);
    expect(await find([], "rain")).toEqual([]);
  });

  test("finds tools in other languages", async () => {
    const tools = [tool("a", "今日の天気を調べる"), tool("b", "ファイルを読む"), tool("c", "Ищет файлы")];
    expect((await find(tools, "天気"))[0]).toBe("a");
    expect((await find(tools, "файлы"))[0]).toBe("c");
  });

  test("of a query as long as a book the beginning alone counts", async () => {
    const beginning = "rain and shine ".repeat(1000);
    const book = `${beginning}${"money to an account ".repeat(1_000_000)}`;
    expect(await find(everyday, book)).toEqual(await find(everyday, beginning));
  });

  test("any text is a query, and any text a description", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), async (query, description) => {
        const found = await find([...everyday, tool("x", description)], query, 3);
        expect(found.length).toBeLessThanOrEqual(3);
        expect(new Set(found).size).toBe(found.length);
      }),
      { numRuns: 50 },
    );
  });

  test("for any adding and removing, exactly the tools that are there are found", async () => {
    const step = fc.record({ name: fc.constantFrom("a", "b", "c", "d", "e", "f"), add: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const discovery = new ToolDiscovery();
        const there = new Set<string>();
        for (const { name, add } of steps) {
          if (add) discovery.add(tool(`tool_${name}`, `Shared words, and ${name.repeat(5)} of its own.`));
          else discovery.remove(`tool_${name}`);
          if (add) there.add(name);
          else there.delete(name);
          const found = await discovery.search("shared words", 10);
          expect(found.map((hit) => hit.name).sort()).toEqual(Array.from(there, (each) => `tool_${each}`).sort());
        }
        expect(discovery.size).toBe(there.size);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a search by an embedder", () => {
  function embedder(): Embedder & { texts: string[] } {
    const texts: string[] = [];
    return {
      id: "test",
      texts,
      embed: async (batch) => {
        texts.push(...batch);
        return batch.map((text) =>
          Float32Array.of(/zebra|striped/.test(text) ? 1 : 0, /music/.test(text) ? 1 : 0, 0.01),
        );
      },
    };
  }

  test("is fused with that by words, and embeds each tool once, late ones too", async () => {
    const model = embedder();
    const discovery = new ToolDiscovery();
    for (let i = 0; i < 300; i++) discovery.add(tool(`t${i}`, `Something of kind ${i}.`));
    discovery.add(tool("z", "Feeds a zebra."));
    await discovery.useEmbedder(model);
    expect(model.texts).toHaveLength(301);
    expect((await discovery.search("striped animals", 1))[0]?.name).toBe("z");
    discovery.add(tool("m", "Plays music."));
    expect((await discovery.search("music", 1))[0]?.name).toBe("m");
    discovery.remove("m");
    expect((await discovery.search("music", 400)).map(({ name }) => name)).not.toContain("m");
    expect(model.texts).toHaveLength(301 + 1 + 3 + 8); // three queries, one late tool, and what no tool is for
  });

  test("that fails leaves the search by words, and is asked again at the next one", async () => {
    const discovery = new ToolDiscovery();
    discovery.add(tool("feeder", "Feeds a zebra."));
    discovery.add(tool("clock", "Tells the time."));
    const model = embedder();
    let broken = true;
    const flaky: Embedder = {
      id: "flaky",
      embed: (texts) => (broken ? Promise.reject(new Error("no model")) : model.embed(texts)),
    };
    await discovery.useEmbedder(flaky);
    expect(discovery.embedderFault).toBe("no model");
    expect((await discovery.search("feed a zebra", 1))[0]?.name).toBe("feeder");
    expect(await discovery.search("striped", 1)).toEqual([]);
    broken = false;
    expect((await discovery.search("striped", 1))[0]?.name).toBe("feeder");
    expect(discovery.embedderFault).toBeUndefined();
  });

  test("that gives too few vectors, or ones of no number, leaves the search by words", async () => {
    const discovery = new ToolDiscovery();
    discovery.add(tool("feeder", "Feeds a zebra."));
    await discovery.useEmbedder({ id: "few", embed: async () => [] });
    expect(discovery.embedderFault).toContain("0 vectors for 1 texts");
    expect(await discovery.search("zebra", 5)).toHaveLength(1);
    await discovery.useEmbedder({ id: "nan", embed: async (all) => all.map(() => Float32Array.of(Number.NaN)) });
    expect(await discovery.search("zebra", 5)).toHaveLength(1);
  });

  test("is left when the signal aborts", async () => {
    const discovery = new ToolDiscovery();
    discovery.add(tool("a", "b"));
    const abort = new AbortController();
    const waits: Embedder = {
      id: "waits",
      embed: (_, options) =>
        new Promise((_, reject) => options?.signal?.addEventListener("abort", () => reject(new Error("left")))),
    };
    const searching = discovery.useEmbedder(waits, abort.signal);
    abort.abort();
    await expect(searching).rejects.toThrow("left");
  });

  test("finds nothing for what no tool has to do with, and fills up with what words find", async () => {
    const discovery = new ToolDiscovery();
    discovery.add(tool("z", "Feeds a zebra."));
    for (let i = 0; i < 80; i++) discovery.add(tool(`t${i}`, `Paints a picture of kind ${i}.`));
    await discovery.useEmbedder(embedder());
    expect(await discovery.search("qqqq zzzz", 5)).toEqual([]);
    expect(await discovery.search("paint a picture", 70)).toHaveLength(70);
    const both = await discovery.search("paint a striped picture", 70);
    expect(both).toHaveLength(70);
    expect(both.map(({ name }) => name)).toContain("z");
  });
});

test("the best of any scores are the best", () => {
  const scores = fc.array(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(scores, fc.integer({ min: 0, max: 50 }), (list, count) => {
      const highest = Math.max(...list);
      const found = best(Int32Array.from(list.keys()), count, Float64Array.from(list), highest);
      expect(found).toHaveLength(Math.min(count, list.length));
      const left = list.filter((_, i) => !found.includes(i));
      // Scores that differ by less than a thousandth of the highest may change places.
      const lowest = Math.min(...found.map((i) => list[i] as number));
      if (count > 0) for (const score of left) expect(score).toBeLessThanOrEqual(lowest + highest / 1000);
    }),
  );
});
