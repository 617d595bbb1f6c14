import { ToolCallResult, type ToolImpl } from "@shedkit/tool";
import type { ToolArguments } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutMember } from "../src/calls/cut-member.js";
import type { ToolCallRequest, ToolCallWorkflow } from "../src/index.js";
import { call, collect, manager, tool } from "./parts.js";

const touches = ({ path }: { path?: unknown }) => (typeof path === "string" ? [path] : []);

function shape({ stages }: ToolCallWorkflow): string {
  return stages
    .map(({ type, calls }) => `${type === "parallel" ? "" : "!"}${calls.map(({ id }) => id).join("")}`)
    .join(" ");
}

const tools = () =>
  manager([
    tool("look", { readOnly: true }),
    tool("read", { readOnly: true, touches }),
    tool("edit", { touches }),
    tool("bash"),
    tool("fail", {
      run: () => {
        throw new Error("broken");
      },
    }),
    tool("refuse", { run: async () => ToolCallResult.failure("no such file") }),
  ]);

const on = (id: string, name: string, path: string) => call(id, name, { arguments: { path } });

describe("the order of a batch", () => {
  test.each<[string, ToolCallRequest[], string]>([
    ["nothing", [], ""],
    ["calls that only read run together", [call("a", "look"), on("b", "read", "x"), on("c", "read", "x")], "abc"],
    ["calls that write run in order", [call("a", "bash"), call("b", "bash"), call("c", "bash")], "a b c"],
    ["a read stands where it stood among writes", [call("a", "look"), call("b", "bash"), call("c", "look")], "a b c"],
    ["writes of different things run together", [on("a", "edit", "x"), on("b", "edit", "y")], "ab"],
    [
      "writes of the same thing run in order",
      [on("a", "edit", "x"), on("b", "read", "y"), on("c", "edit", "x")],
      "ab c",
    ],
    ["shed runs before what follows it", [call("a", "shed"), call("b", "look")], "a b"],
    [
      "dependencies make stages by depth",
      [
        call("a", "look", { dependsOn: ["c"] }),
        call("b", "bash"),
        call("c", "bash"),
        call("d", "look", { dependsOn: ["a"] }),
      ],
      "bc a d",
    ],
    [
      "what overlaps runs in order beside given dependencies",
      [on("a", "edit", "x"), on("b", "edit", "x"), call("c", "look", { dependsOn: ["a"] })],
      "a bc",
    ],
    [
      "a hint makes its stage sequential",
      [call("a", "look"), call("b", "look", { executionHint: "sequential" }), call("c", "look", { dependsOn: ["a"] })],
      "!ab c",
    ],
  ])("%s", (_, requests, expected) => {
    expect(shape(tools().buildWorkflow(requests))).toBe(expected);
  });

  test.each<[string, ToolCallRequest[], RegExp]>([
    [
      "a circle",
      [call("a", "look", { dependsOn: ["b"] }), call("b", "look", { dependsOn: ["a"] }), call("c", "look")],
      /"a", "b"/,
    ],
    ["a call that waits for itself", [call("a", "look", { dependsOn: ["a"] })], /"a"/],
    ["an unknown id", [call("a", "look", { dependsOn: ["z"] })], /"a".*"z"/],
    ["an id used twice", [call("a", "look"), call("a", "bash")], /"a"/],
  ])("%s fails every call of the batch and runs none", async (_, requests, message) => {
    const session = tools();
    expect(() => session.buildWorkflow(requests)).toThrow(message);
    const seen: string[] = [];
    const outcomes = await collect(
      session.runCalls(requests, {
        before: () => expect.fail("a call ran"),
        after: ({ request }) => void seen.push(request.id),
      }),
    );
    expect(outcomes.map(({ error }) => error?.kind)).toEqual(requests.map(() => "invalidArguments"));
    expect(seen).toEqual(requests.map(({ id }) => id));
  });

  test("for any dependencies without a circle, every call stands after those it depends on", () => {
    const batch = fc.integer({ min: 1, max: 12 }).chain((size) =>
      fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: size, maxLength: size }).chain((needs) =>
        fc.tuple(
          fc.constant(needs.map((list, i) => (i === 0 ? [] : list.map((n) => n % i)))),
          fc.shuffledSubarray(
            Array.from({ length: size }, (_, i) => i),
            { minLength: size, maxLength: size },
          ),
          fc.array(fc.constantFrom("look", "read", "edit", "bash"), { minLength: size, maxLength: size }),
        ),
      ),
    );
    fc.assert(
      fc.property(batch, ([needs, order, names]) => {
        const requests = order.map((i) =>
          call(`c${i}`, names[i] ?? "look", {
            dependsOn: (needs[i] ?? []).map((n) => `c${n}`),
            arguments: { path: "x" },
          }),
        );
        const workflow = tools().buildWorkflow(requests);
        const stageOf = new Map(
          workflow.stages.flatMap(({ calls }, stage) => calls.map(({ id }) => [id, stage] as const)),
        );
        expect(stageOf.size).toBe(requests.length);
        for (const { id, dependsOn } of requests) {
          for (const need of dependsOn ?? []) expect(stageOf.get(need)).toBeLessThan(stageOf.get(id) ?? -1);
        }
        for (const { calls } of workflow.stages) {
          const edits = calls.filter(({ name }) => name === "edit");
          if (edits.length > 0) expect(calls.filter(({ name }) => name === "edit" || name === "read")).toHaveLength(1);
        }
      }),
    );
  });
});

describe("_after", () => {
  test("every declared tool takes it, and no tool gets it", async () => {
    const session = manager([tool("a", { run: (args) => JSON.stringify(args) })], { ordering: true });
    session.activate(["a"]);
    const { shed, tools: declared } = session.offeredTools();
    expect(JSON.stringify(shed)).toContain('"_after"');
    expect(JSON.stringify(declared)).toContain('"_after"');
    expect((await session.executeOne(call("1", "a", { arguments: { path: "x", _after: [] } }))).text).toBe(
      '{"path":"x"}',
    );
  });

  test("gives the order of a batch by position", async () => {
    const session = manager([tool("look", { readOnly: true })], { ordering: true });
    const requests = [
      call("a", "look", { arguments: { _after: [1] } }),
      call("b", "look"),
      call("c", "look", { arguments: { _after: ["0", 1] } }),
      call("d", "look", { arguments: { _after: 2 } }),
    ];
    expect(shape(session.buildWorkflow(requests))).toBe("b a c d");
    const ran: string[] = [];
    const outcomes = await collect(session.runCalls(requests, { before: ({ id }) => void ran.push(id) }));
    expect(ran).toEqual(["b", "a", "c", "d"]);
    expect(outcomes.map(({ request }) => request.id)).toEqual(["a", "b", "c", "d"]);
  });

  test.each<[unknown, string]>([
    [["0"], "a b"],
    ["0", "a b"],
    [" [0] ", "a b"],
    ['["0",]', "a b"],
    [0, "a b"],
    ["", "ab"],
    [[""], "ab"],
    ["none", "ab"],
    [["None"], "ab"],
    ["[]", "ab"],
    [null, "ab"],
    [[null], "ab"],
  ])("%j is read as a model means it", (_after, expected) => {
    const session = manager([tool("look", { readOnly: true })], { ordering: true });
    const requests = [call("a", "look"), call("b", "look", { arguments: { _after } as ToolArguments })];
    expect(shape(session.buildWorkflow(requests))).toBe(expected);
    const raw = requests.map((request) => ({ ...request, rawArguments: JSON.stringify(request.arguments) }));
    expect(shape(session.buildWorkflow(raw))).toBe(expected);
  });

  test.each([[[7]], [[-1]], [["x"]], [[0.5]], [[1]], [{}], [true], ["0 and 2"], [[[0]]]])(
    "%j names no other call: that call alone fails, and what depends on it is skipped",
    async (_after) => {
      const session = manager([tool("look", { readOnly: true })], { ordering: true });
      const outcomes = await collect(
        session.runCalls([
          call("a", "look"),
          call("b", "look", { arguments: { _after } as ToolArguments }),
          call("c", "look", { arguments: { _after: [1] } }),
        ]),
      );
      expect(outcomes.map(({ errorDetail }) => errorDetail)).toEqual([undefined, "invalidArguments", "skipped"]);
      expect(outcomes[1]?.promptText).toMatch(/"b" was not run\. _after is .*; wanted are positions .* from 0 to 2/);
    },
  );

  test("counts the calls that were done before a break", async () => {
    const session = manager([tool("look", { readOnly: true })], { ordering: true });
    const requests = [
      call("c", "look", { position: 2, arguments: { _after: [0, 3] } }),
      call("d", "look", { position: 3, arguments: { _after: [1] } }),
    ];
    expect(shape(session.buildWorkflow(requests))).toBe("d c");
    const own = call("c", "look", { position: 2, arguments: { _after: [2] } });
    expect(session.buildWorkflow([own, call("d", "look", { position: 3 })]).faults?.get("c")?.message).toContain(
      "without its own, 2",
    );
  });

  test.each([
    ["a comma too many", '{"path": "x", "_after": [1],}', "x"],
    ["a comma too many inside", '{"_after": [1,], "path": "x"}', "x"],
    ["the last member", '{"path": "{\\"_after\\": [", "_after": [1]}', '{"_after": ['],
    ["the only member", '{"_after": "1" }', undefined],
    ["twice", '{"_after": [0], "path": "x", "_after": [1]}', "x"],
    ["in a code fence", '```json\n{"path": "x", "_after": [1]}\n```', "x"],
    ["as a text once more", JSON.stringify('{"path": "x", "_after": [1]}'), "x"],
  ])("is taken out of arguments that came as text: %s", async (_, rawArguments, path) => {
    const got: ToolArguments[] = [];
    const run = (args: ToolArguments) => {
      got.push(args);
      return "done";
    };
    const session = manager([tool("look", { run, readOnly: true })], { ordering: true });
    const requests = [call("a", "look", { rawArguments }), call("b", "look", { rawArguments: '{"path": "first"}' })];
    const outcomes = await collect(session.runCalls(requests));
    expect(outcomes.map(({ promptText }) => promptText)).toEqual(["done", "done"]);
    expect(got).toEqual([{ path: "first" }, path === undefined ? {} : { path }]);
    expect(session.validateArguments(call("a", "look", { rawArguments }))).toEqual(got[1]);
    expect((await session.executeOne(call("a", "look", { rawArguments }))).text).toBe("done");
  });

  const wrapped = [
    { name: "look", arguments: { path: "x", _after: [1] } },
    { tool: "look", input: { _after: "1", path: "x" } },
    { look: { path: "x", _after: [1] } },
    { function: { name: "look", arguments: { path: "x", _after: [1] } } },
    { function: { name: "look", arguments: JSON.stringify({ path: "x", _after: [1] }) } },
    { name: "look", arguments: { path: "x" }, _after: [1] },
  ];
  test.each(wrapped.map((args) => [JSON.stringify(args), args]))(
    "is taken out of an object that names the tool: %s",
    async (text, args) => {
      const session = manager([tool("look", { readOnly: true, run: (got) => JSON.stringify(got) })], {
        ordering: true,
      });
      const other = call("b", "look", { arguments: { path: "first" } });
      for (const extra of [{ arguments: args as ToolArguments }, { rawArguments: text }]) {
        const requests = [call("a", "look", extra), other];
        expect(shape(session.buildWorkflow(requests))).toBe("b a");
        const [outcome] = await collect(session.runCalls(requests));
        expect(outcome?.promptText).toBe('{"path":"x"}');
      }
    },
  );

  test("inside a parameter of the tool it is the tool's", async () => {
    const nested: ToolImpl = {
      ...tool("look", { run: (got) => JSON.stringify(got) }),
      definition: () => ({
        type: "single",
        definition: { name: "look", category: "c", description: "", arguments: { properties: { input: {} } } },
      }),
    };
    const session = manager([nested], { ordering: true });
    const args = { input: { _after: [7] } };
    for (const extra of [{ arguments: args }, { rawArguments: JSON.stringify(args) }])
      expect((await session.executeOne(call("a", "look", extra))).text).toBe(JSON.stringify(args));
  });

  test("long integers beside it keep their digits", async () => {
    const got: ToolArguments[] = [];
    const run = (args: ToolArguments) => {
      got.push(args);
      return "";
    };
    const session = manager([tool("look", { run })], { ordering: true });
    const rawArguments = '{"path": 12345678901234567890123, "_after": [1]}';
    await collect(session.runCalls([call("a", "look", { rawArguments }), call("b", "look")]));
    expect(got).toEqual([{}, { path: "12345678901234567890123" }]);
  });

  test("a text that breaks off is refused as such, and a huge one is read in linear time", async () => {
    const session = manager([tool("look")], { ordering: true });
    const [broken] = await collect(
      session.runCalls([call("a", "look", { rawArguments: '{"_after": [0], "path": "' })]),
    );
    expect(broken?.promptText).toContain("broken off");
    const started = performance.now();
    for (const part of ['\\"', "{", ",", '"_after":[],', "[ "]) {
      await collect(session.runCalls([call("a", "look", { rawArguments: `{"_after": [], ${part.repeat(300_000)}` })]));
    }
    expect(performance.now() - started).toBeLessThan(30_000); // a minute and more where each character is looked at again
  });

  test("for any arguments, the text without it reads as the arguments without it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), fc.nat(), (rest, value, place) => {
        const entries = Object.entries(rest).filter(([key]) => key !== "_after");
        entries.splice(place % (entries.length + 1), 0, ["_after", value]);
        const text = `{${entries.map(([key, each]) => `${JSON.stringify(key)}: ${JSON.stringify(each)}`).join(" , ")}}`;
        const cut = cutMember(text, "_after");
        expect(JSON.parse(cut?.value ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
        const { _after: _, ...others } = JSON.parse(text);
        expect(JSON.parse(cut?.rest ?? "")).toEqual(others);
      }),
    );
  });

  test("is an ordinary argument where ordering is off", async () => {
    await expect(tools().executeOne(call("1", "look", { arguments: { _after: [0] } }))).rejects.toThrow("_after");
  });
});

describe("a tool that cannot say what it touches", () => {
  const faulty = (touches: () => readonly string[]) =>
    manager([tool("faulty", { touches }), tool("look", { readOnly: true })]);
  test.each([
    [
      "throws",
      () => {
        throw new Error("no path");
      },
    ],
    ["gives no list", () => undefined as unknown as string[]],
  ])("costs its own call alone: it %s", async (_, touches) => {
    const outcomes = await collect(
      faulty(touches).runCalls([call("a", "look"), call("b", "faulty"), call("c", "look")]),
    );
    expect(outcomes.map(({ errorDetail, attempts }) => [errorDetail, attempts])).toEqual([
      [undefined, 1],
      ["execution", 0],
      [undefined, 1],
    ]);
    expect(outcomes[1]?.promptText).toMatch(/"faulty" did not run: what it touches/);
    expect(outcomes[1]?.error?.kind).toBe("execution");
  });

  test("is told by arguments that came as text", () => {
    const requests = ["x", "y"].map((path) => call(path, "edit", { rawArguments: `{"path": "${path}",}` }));
    expect(shape(tools().buildWorkflow(requests))).toBe("xy");
    expect(shape(tools().buildWorkflow([...requests, call("z", "edit", { rawArguments: '{"path": "x"}' })]))).toBe(
      "xy z",
    );
  });
});

describe("running a batch", () => {
  test("a parallel stage really runs in parallel, up to the limit, and the results come in the order of the calls", async () => {
    const starts: (() => void)[] = [];
    let most = 0;
    let running = 0;
    const session = manager([
      tool("wait", {
        readOnly: true,
        run: async ({ path }) => {
          running++;
          most = Math.max(most, running);
          await new Promise<void>((resolve) => {
            starts.push(resolve);
            if (starts.length === 3) for (const start of starts.splice(0).reverse()) start();
          });
          running--;
          return String(path);
        },
      }),
    ]);
    const requests = Array.from({ length: 9 }, (_, i) => on(`${i}`, "wait", `${i}`));
    const finished: string[] = [];
    const outcomes = await collect(
      session.runCalls(requests, { concurrency: 3, after: ({ promptText }) => void finished.push(promptText) }),
    );
    expect(most).toBe(3);
    expect(outcomes.map(({ promptText }) => promptText)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    expect(finished.slice(0, 3).sort()).toEqual(["0", "1", "2"]);
  });

  test("a failure in a parallel stage stops no other call", async () => {
    const outcomes = await collect(
      tools().runWorkflow({
        stages: [{ type: "parallel", failMode: "collectAll", calls: [call("a", "fail"), call("b", "look")] }],
        order: ["a", "b"],
      }),
    );
    expect(outcomes.map(({ promptText }) => promptText)).toEqual(["broken", "look"]);
  });

  test.each(["fail", "refuse"])("a call that depends on one that failed (%s) is skipped and says why", async (name) => {
    const outcomes = await collect(
      tools().runCalls([
        call("a", name),
        call("b", "look", { dependsOn: ["a"] }),
        call("c", "look", { dependsOn: ["b"] }),
        call("d", "look"),
      ]),
    );
    expect(outcomes.map(({ skipped, attempts }) => [skipped, attempts])).toEqual([
      [undefined, 1],
      [`Not run: the call "a" (${name}), which it depends on, did not succeed.`, 0],
      ['Not run: the call "b" (look), which it depends on, did not succeed.', 0],
      [undefined, 1],
    ]);
    expect(outcomes[1]?.promptText).toContain('"a"');
    expect(outcomes[3]?.promptText).toBe("look");
  });

  test("a sequential stage stops at the first failure; independent later calls still run", async () => {
    const outcomes = await collect(
      tools().runCalls([
        call("a", "look", { executionHint: "sequential" }),
        call("b", "fail"),
        call("c", "look"),
        call("d", "look", { dependsOn: ["a"] }),
        call("e", "look", { dependsOn: ["c"] }),
      ]),
    );
    expect(outcomes.map(({ promptText }) => promptText)).toEqual([
      "look",
      "broken",
      'Not run: the call "b" (fail) before it failed.',
      "look",
      'Not run: the call "c" (look), which it depends on, did not succeed.',
    ]);
  });

  test("an abort cancels what runs and what waits, and every call has an outcome", async () => {
    const abort = new AbortController();
    const session = manager([
      tool("hang", {
        run: () => {
          abort.abort();
          return new Promise<string>(() => {});
        },
      }),
      tool("look"),
    ]);
    const outcomes = await collect(session.runCalls([call("a", "hang"), call("b", "look")], { signal: abort.signal }));
    expect(outcomes.map(({ error }) => error?.kind)).toEqual(["cancelled", "cancelled"]);
    const again = await collect(session.runCalls([call("a", "look")], { signal: abort.signal }));
    expect(again.map(({ error }) => error?.kind)).toEqual(["cancelled"]);
  });

  test("leaving the loop early stops what runs", async () => {
    let stopped = false;
    const session = manager([
      tool("look", { readOnly: true }),
      tool("hang", {
        readOnly: true,
        run: (_, signal) =>
          new Promise<string>(() => {
            signal.addEventListener("abort", () => {
              stopped = true;
            });
          }),
      }),
    ]);
    const requests = [call("a", "look"), call("b", "hang")];
    for await (const { request } of session.runCalls(requests)) if (request.id === "a") break;
    expect(stopped).toBe(true);
  });

  test.each([0, -1, 0.5, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "ends with room for %d calls",
    async (concurrency) => {
      const outcomes = await collect(tools().runCalls([call("a", "look"), call("b", "look")], { concurrency }));
      expect(outcomes.map(({ request, result }) => [request.id, result !== undefined])).toEqual([
        ["a", true],
        ["b", true],
      ]);
    },
  );

  test("a ToolError of `before` becomes the outcome; any other error ends the batch", async () => {
    const session = tools();
    const error = await session.executeOne(call("x", "fail")).catch((fault: unknown) => fault);
    const [refused] = await collect(
      session.runCalls([call("a", "look")], {
        before: () => {
          throw error;
        },
      }),
    );
    expect(refused).toMatchObject({ error, attempts: 0 });
    const broken = session.runCalls([call("a", "look"), call("b", "look")], {
      after: () => {
        throw new Error("the store is full");
      },
    });
    await expect(collect(broken)).rejects.toThrow("the store is full");
  });
});
