import { ScriptedProvider } from "@shedkit/testing";
import { FnTool, metadataOf, type ToolImpl } from "@shedkit/tool";
import type { ToolCallOutput } from "@shedkit/types";
import * as Type from "@sinclair/typebox";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultLoopDetection, type LoopDetectionConfig } from "../src/config.js";
import { LoopDetector } from "../src/loop/loop-detection.js";
import { isVacuous } from "../src/loop/loop-guard.js";
import { checkValid, collect, echoTool, readOnly, sessionOf, transcript } from "./helpers.js";

const call = (name: string, args: ToolCallOutput["arguments"] = {}): ToolCallOutput => ({
  type: "toolCall",
  id: "x",
  name,
  arguments: args,
});

describe("the loop detector", () => {
  const detector = (config = {}) => new LoopDetector({ ...defaultLoopDetection, ...config });
  const feed = (one: LoopDetector, steps: readonly ToolCallOutput[], text = "") =>
    steps.map((step) => one.calls(text, [step]).type);

  it("finds the same calls in a row, whatever the order of their arguments", () => {
    const steps = [
      call("a", { x: 1, y: { b: 1, c: 2 } }),
      call("a", { y: { c: 2, b: 1 }, x: 1 }),
      call("a", { x: 1, y: { b: 1, c: 2 } }),
    ];
    expect(feed(detector(), steps)).toEqual(["noLoop", "noLoop", "toolCallLoop"]);
    expect(feed(detector(), steps, "The same words.")).toEqual(["noLoop", "noLoop", "exactLoop"]);
    expect(feed(detector(), [call("a", { x: 1 }), call("a", { x: 2 }), call("a", { x: 3 })])).not.toContain(
      "toolCallLoop",
    );
  });

  it("takes the same call for progress as long as it comes to something new", () => {
    const one = detector();
    const verdicts = ["a line", "another line of the log", "and a third one, at last"].flatMap((outcome) => {
      const before = one.calls("", [call("tail", { file: "log" })]).type;
      return [before, one.results(outcome).type];
    });
    expect(new Set(verdicts)).toEqual(new Set(["noLoop"]));
  });

  it("finds A-B-A-B, and A-B-C", () => {
    const [a, b, c] = [call("a"), call("b"), call("c")];
    expect(feed(detector(), [a, b, a, b, a, b]).at(-1)).toBe("alternatingLoop");
    expect(feed(detector(), [a, b, c, a, b, c, a, b, c]).at(-1)).toBe("alternatingLoop");
    expect(feed(detector(), [a, b, a, c, a, b])).not.toContain("alternatingLoop");
  });

  it("finds the same call with the same result, whatever lies between", () => {
    const one = detector();
    const verdicts = [];
    for (const name of ["a", "b", "c", "a", "d", "e", "a"]) {
      one.calls("", [call(name)]);
      verdicts.push(one.results(name === "a" ? "nothing" : `result of ${name}, which is long enough to differ`).type);
    }
    expect(verdicts.at(-1)).toBe("noProgress");
    expect(verdicts.slice(0, -1)).not.toContain("noProgress");
  });

  it("finds steps that are nearly the same, in any language", () => {
    for (const text of [
      "The file was not found in that directory, number ",
      "そのディレクトリにファイルが見つかりませんでした、番号 ",
    ]) {
      const one = detector({ similarityThreshold: 0.8 });
      const verdicts = [1, 2, 3, 4, 5].map((n) => {
        one.calls("", [call("find", { path: `/a/long/path/to/look/into/${n}` })]);
        return one.results(text.repeat(2) + n).type;
      });
      expect(verdicts).toEqual(["noLoop", "noLoop", "noLoop", "noLoop", "fuzzyLoop"]);
    }
  });

  it("finds none in steps that are alike but learn something each", () => {
    const one = detector();
    for (let n = 0; n < 20; n++) {
      const path = `settings/of/service-${n}/config.ini`;
      expect(one.calls("", [call("search_file", { path, query: "port" })]).type).toBe("noLoop");
      expect(one.results(`${path}:3:port = ${8000 + 7 * n}`).type).toBe("noLoop");
    }
  });

  it("finds none in steps that are alike but change something each", () => {
    const one = detector();
    for (let n = 0; n < 20; n++) {
      expect(one.calls("", [call("write", { path: `/a/long/path/to/write/to/${n}` })]).type).toBe("noLoop");
      expect(one.results(`Written: /a/long/path/to/write/to/${n}`, true).type).toBe("noLoop");
    }
  });

  it("never finds a loop in calls that all differ", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 60 }), (names) => {
        const one = detector();
        expect(
          feed(
            one,
            names.map((name) => call("a", { name })),
          ).every((verdict) => verdict === "noLoop"),
        ).toBe(true);
      }),
    );
  });
});

describe("a model that goes round in circles", () => {
  const same = { call: "echo", arguments: { text: "again" } };

  it("is not one that works on one thing after another, however alike", async () => {
    const steps = Array.from({ length: 20 }, (_, n) => ({
      call: "echo",
      arguments: { text: `the text of one more item in a rather long list of them, and its number is ${n}` },
    }));
    const run = async (tool: ReturnType<typeof echoTool> | ReturnType<typeof readOnly>) => {
      const provider = new ScriptedProvider([...steps, "Done."]);
      await (await sessionOf(provider, tool).build()).runTurn("Hi");
      return transcript(provider.requests.at(-1)?.messages ?? []).filter((line) => line.includes("in circles")).length;
    };
    expect(await run(echoTool())).toBe(0);
    expect(await run(readOnly(echoTool()))).toBeGreaterThan(0); // looking again and again, and finding nothing new
  });

  it("is told so instead of being given the result, and can go on", async () => {
    const provider = new ScriptedProvider([same, same, same, "I will stop."]);
    const session = await sessionOf(provider, echoTool()).build();
    const turn = await session.runTurn("Hi");
    expect(turn.text).toBe("I will stop.");
    const results = transcript(provider.requests[3]?.messages ?? []).filter((line) => line.startsWith("echo ->"));
    expect(results.slice(0, 2)).toEqual(["echo -> echo: again", "echo -> echo: again"]);
    expect(results[2]).toContain("round in circles");
    checkValid(provider.requests[3]?.messages ?? []);
  });

  it("that does not listen gets another model and a higher temperature, then the turn ends", async () => {
    const provider = new ScriptedProvider(() => same);
    const session = await sessionOf(provider, echoTool())
      .withFallbackModels(["other"])
      .withConfig({ maxInnerIterations: 100, modelParams: { temperature: 0.2 } })
      .withLoopDetection({ maxRedirects: 1, temperatureDelta: 0.5 })
      .build();
    const turn = await session.runTurn("Hi");
    expect(turn.failure).toMatchObject({ code: "loopDetected", details: { kind: "toolCallLoop", occurrences: 3 } });
    expect(turn.toolResults()).toHaveLength(turn.toolCalls().length);
    const last = provider.requests.at(-1);
    expect(last?.model.name).toBe("other");
    expect(last?.params.temperature).toBeCloseTo(0.7);
  });

  it("ends the turn at once where it is not to be told and there is nothing to change", async () => {
    const settings = { maxRedirects: 0, temperatureDelta: 0, toolCallMaxRepeats: 2 };
    const session = await sessionOf(new ScriptedProvider(() => same), echoTool())
      .withLoopDetection(settings)
      .build();
    const turn = await session.runTurn("Hi");
    expect(turn.failure?.message).toBe("The model went round in circles: toolCallLoop, 2 times.");
    expect(turn.toolCalls()).toHaveLength(2);

    const provider = new ScriptedProvider((request) => (request.model.name === "other" ? "Done." : same));
    const withOther = sessionOf(provider, echoTool()).withFallbackModels(["other"]).withLoopDetection(settings);
    expect((await (await withOther.build()).runTurn("Hi")).text).toBe("Done.");
  });

  it("is let be where the tool is meant to be polled, or detection is off", async () => {
    const polling: ToolImpl = {
      definition: () => echoTool().definition(),
      metadata: { ...metadataOf(echoTool()), kind: "waitTasksAction" },
      execute: (args, ctx) => echoTool().execute(args, ctx),
    };
    const script = () => new ScriptedProvider([same, same, same, same, same, same, "Done."]);
    for (const session of [
      await sessionOf(script(), polling).build(),
      await sessionOf(script(), echoTool())
        .withLoopDetection({ pollingTools: ["echo"] })
        .build(),
      await sessionOf(script(), echoTool()).withLoopDetection("off").build(),
    ]) {
      const turn = await session.runTurn("Hi");
      expect(turn.text).toBe("Done.");
      for (const result of turn.toolResults()) expect(result.errorDetail).toBeUndefined();
    }
  });

  it("is not accused of calls whose results differ", async () => {
    let n = 0;
    const next = new FnTool(
      "next",
      "The next page.",
      { type: "object", properties: { page: { type: "integer" } } },
      async () => `page ${n++}`,
    );
    const provider = new ScriptedProvider((_, index) =>
      index < 12 ? { call: "next", arguments: { page: index } } : "Read all.",
    );
    const session = await sessionOf(provider, next).build();
    const turn = await session.runTurn("Hi");
    expect(turn.text).toBe("Read all.");
    expect(turn.toolResults().every((result) => result.errorDetail === undefined)).toBe(true);
  });
});

describe("an empty answer", () => {
  it("is withdrawn and asked for again", async () => {
    const provider = new ScriptedProvider(["...", { thinking: "Hm." }, "42"]);
    const session = await sessionOf(provider).build();
    const stream = session.runTurnStream("Hi");
    const events = await collect(stream.events());
    expect(events.filter((event) => event.type === "retract")).toHaveLength(2);
    expect((await stream.done()).text).toBe("42");
  });

  it("is passed on when nothing better comes", async () => {
    const provider = new ScriptedProvider(() => "...");
    const session = await sessionOf(provider).build();
    const answer = await session.ask("Hi");
    expect(answer).toMatchObject({ type: "complete", text: "..." });
    expect(provider.requests).toHaveLength(3);
    const quiet = new ScriptedProvider(["..."]);
    expect(
      (await (await sessionOf(quiet).withLoopDetection({ detectVacuousAnswers: false }).build()).ask("Hi")).text,
    ).toBe("...");
  });

  it("is one without a letter, digit, sign or picture, in any script", () => {
    for (const text of ["", " \n", ".", "…", "-- !?"]) expect(isVacuous(text)).toBe(true);
    for (const text of ["7", "да", "はい", "👍", "∞", "a."]) expect(isVacuous(text)).toBe(false);
  });
});

describe("a bare number for an answer", () => {
  const first = async (prompt: string, answer: string, change: Partial<LoopDetectionConfig> = {}) => {
    const provider = new ScriptedProvider([answer, "In words."]);
    const session = await sessionOf(provider).withLoopDetection(change).build();
    return (await session.ask(prompt)).text === answer;
  };

  it("is asked for again where nobody spoke of numbers, and stands where they did", async () => {
    expect(await first("Fix the failing test", "7")).toBe(false);
    expect(await first("詩を書いてください", "４２。")).toBe(false);
    expect(await first("Fix the failing test", "-3.50 %")).toBe(false);
    for (const asked of ["How many are there?", "Wie viel?", "いくつありますか？", "كم؟", "Add 3 and 4", "٣ + ٤"]) {
      expect(await first(asked, "7")).toBe(true);
    }
    expect(await first("Fix the failing test", "7 files were changed")).toBe(true);
    expect(await first("Fix the failing test", "$7")).toBe(true);
    expect(await first("Fix the failing test", "7", { judgeBareNumbers: false })).toBe(true);
    expect(await first("Fix the failing test", "7", { detectVacuousAnswers: false })).toBe(true);
  });

  it("stands when it is given again, with the first withdrawn", async () => {
    const provider = new ScriptedProvider(["1989", "1989"]);
    const session = await sessionOf(provider).build();
    const turn = await session.runTurn("Tell me the year the wall fell");
    expect(turn.text).toBe("1989");
    expect(turn.records.filter((record) => record.type === "retracted")).toMatchObject([
      { reason: "The answer was a bare number." },
    ]);
    expect(provider.requests).toHaveLength(2);
  });

  it("stands where a tool was asked, and where a schema wants it", async () => {
    const counted = new ScriptedProvider([{ call: "echo", arguments: { text: "a" } }, "42"]);
    expect((await (await sessionOf(counted, echoTool()).build()).ask("Count the files")).text).toBe("42");
    const typed = new ScriptedProvider(["42"]);
    const answer = await (await sessionOf(typed).build()).ask("Name the port", { output: Type.Number() });
    expect(answer).toMatchObject({ value: 42 });
    expect(typed.requests).toHaveLength(1);
  });
});
