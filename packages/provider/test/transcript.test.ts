import type { AssistantMessage, ContentPart, Message, ModelOutput, ToolResultMessage } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  alternateTurns,
  idRules,
  interruptedResult,
  normalizeTranscript,
  WireIds,
  withoutMedia,
} from "../src/transcript.js";

let count = 0;
const say = (text: string, id = `u${++count}`): Message => ({
  type: "user",
  id,
  role: "user",
  content: [{ type: "text", text }],
});
const block = (stepId: string, output: ModelOutput, model = "m"): AssistantMessage => ({
  type: "assistant",
  id: `a${++count}`,
  turnId: "t",
  stepId,
  model,
  output,
});
const call = (stepId: string, id: string): AssistantMessage =>
  block(stepId, { type: "toolCall", id, name: "read", arguments: { path: id } });
const result = (toolCallId: string, text = `result of ${toolCallId}`): ToolResultMessage => ({
  type: "toolResult",
  id: `r${++count}`,
  turnId: "t",
  stepId: "s",
  toolCallId,
  name: "read",
  content: [{ type: "text", text }],
});
const text = (stepId: string, value: string, model = "m"): AssistantMessage =>
  block(stepId, { type: "text", text: value }, model);
const thought = (stepId: string, value: string, model = "m"): AssistantMessage =>
  block(stepId, { type: "thinking", text: value, signature: "sig" }, model);

describe("normalizeTranscript", () => {
  it("returns the very messages of a transcript that is in order", () => {
    const messages = [say("hi"), thought("s1", "hm"), call("s1", "a"), result("a"), text("s2", "done"), say("thanks")];
    const normal = normalizeTranscript(messages);
    expect(normal).toHaveLength(messages.length);
    normal.forEach((message, i) => {
      expect(message).toBe(messages[i]);
    });
  });

  it("puts results in the order of their calls, and what came between after them", () => {
    const [steer, a, b, ra, rb] = [say("wait"), call("s1", "a"), call("s1", "b"), result("a"), result("b")];
    expect(normalizeTranscript([a, b, rb, steer, ra])).toEqual([a, b, ra, rb, steer]);
  });

  it("gives a call without a result one that says so, in front of what follows", () => {
    const [a, next] = [call("s1", "a"), say("go on")];
    const normal = normalizeTranscript([a, next]);
    expect(normal).toEqual([a, interruptedResult(a as Parameters<typeof interruptedResult>[0]), next]);
    expect(normal[1]).toMatchObject({ toolCallId: "a", errorDetail: "interrupted" });
  });

  it("leaves out results without a call, and a second result or call of one id", () => {
    const [a, first] = [call("s1", "a"), result("a", "first")];
    expect(normalizeTranscript([result("ghost"), a, first, result("a", "second"), call("s2", "a")])).toEqual([
      a,
      first,
    ]);
  });

  it("leaves out what is excluded, with the results of excluded calls", () => {
    const [user, a, kept] = [say("hi"), call("s1", "a"), text("s2", "yes")];
    expect(normalizeTranscript([user, a, result("a"), kept], { exclude: new Set([a.id]) })).toEqual([user, kept]);
  });

  it("leaves out empty texts, empty thinking and thinking that nothing follows", () => {
    const user: Message = { type: "user", id: "u", role: "user", content: [{ type: "text", text: "" }] };
    const empty = block("s1", { type: "thinking", text: " " });
    expect(normalizeTranscript([user, text("s1", ""), empty, thought("s1", "and then")])).toEqual([]);
  });

  it("leaves out what another model thought, and keeps what it said", () => {
    const [mine, theirs, said] = [thought("s1", "mine"), thought("s2", "theirs", "other"), text("s2", "x", "other")];
    const answer = text("s1", "y");
    expect(normalizeTranscript([mine, answer, theirs, said], { model: "m" })).toEqual([mine, answer, said]);
  });

  it("leaves out the sources of what another model said, and keeps the model's own", () => {
    const cited = (model: string) => block("s1", { type: "text", text: "So.", citations: [{ url: "u" }] }, model);
    const [own, other] = normalizeTranscript([cited("m"), cited("other")], { model: "m" });
    expect(own).toMatchObject({ output: { citations: [{ url: "u" }] } });
    expect(other).toMatchObject({ output: { type: "text", text: "So." } });
    expect(other).not.toHaveProperty("output.citations");
    expect(normalizeTranscript([cited("other")])[0]).toHaveProperty("output.citations");
  });

  it("mends lone surrogates in texts, arguments and results, but not in what is signed", () => {
    const broken = "a\ud800b";
    const bad = block("s1", { type: "toolCall", id: "a", name: "read", arguments: { [broken]: [broken] } });
    const signed = thought("s1", broken);
    const [, first, second, third] = normalizeTranscript([say(broken), signed, bad, result("a", broken)]);
    expect(first).toBe(signed);
    expect((second as AssistantMessage).output).toMatchObject({ arguments: { "a\ufffdb": ["a\ufffdb"] } });
    expect((third as ToolResultMessage).content).toEqual([{ type: "text", text: "a\ufffdb" }]);
  });
});

// Few ids and steps, so that they meet; any order, any gap.
const ids = fc.constantFrom("a", "b", "c", "d");
const steps = fc.constantFrom("s1", "s2", "s3");
const texts = fc.oneof(fc.constant(""), fc.constant("\ud83d"), fc.string({ maxLength: 4 }));
const messages = fc.array(
  fc.oneof(
    texts.map((value) => say(value)),
    fc.tuple(steps, texts).map(([step, value]) => text(step, value)),
    fc.tuple(steps, texts).map(([step, value]) => thought(step, value)),
    fc.tuple(steps, texts).map(([step, value]) => block(step, { type: "thinking", text: value })),
    fc.tuple(steps, ids).map(([step, id]) => call(step, id)),
    fc.tuple(ids, texts).map(([id, value]) => result(id, value)),
  ),
  { maxLength: 30 },
);

/** What providers refuse. */
function problems(list: readonly Message[]): string[] {
  const found: string[] = [];
  const called = new Set<string>();
  const due: string[] = [];
  let run: Message[] = [];
  const endRun = () => {
    const last = run.at(-1);
    if (last?.type === "assistant" && last.output.type === "thinking") found.push("thinking that nothing follows");
    run = [];
  };
  for (const message of list) {
    if (message.type === "assistant") {
      const previous = run.at(-1);
      if (previous?.type === "assistant" && previous.stepId !== message.stepId) endRun();
      run.push(message);
      if (due.length > 0 && previous === undefined) found.push("a call without its result");
      if (message.output.type === "toolCall") {
        if (called.has(message.output.id)) found.push("a call twice");
        called.add(message.output.id);
        due.push(message.output.id);
      }
      if (message.output.type === "text" && message.output.text === "") found.push("empty text");
    } else {
      endRun();
      if (message.type === "toolResult") {
        if (due.shift() !== message.toolCallId) found.push("a result out of place");
      } else {
        if (due.length > 0) found.push("a user between call and result");
        if (message.content.some((part: ContentPart) => part.type === "text" && part.text === "")) found.push("empty");
      }
    }
  }
  endRun();
  if (due.length > 0) found.push("a call without its result at the end");
  if (/\\u[dD][89abAB]/.test(JSON.stringify(list.filter((message) => !isThought(message))))) found.push("surrogate");
  return found;
}

function isThought(message: Message): boolean {
  return message.type === "assistant" && message.output.type === "thinking";
}

describe("any list of messages", () => {
  it("normalises to one that providers accept", () => {
    fc.assert(
      fc.property(messages, (list) => {
        expect(problems(normalizeTranscript(list))).toEqual([]);
      }),
    );
  });

  it("normalises to itself the second time", () => {
    fc.assert(
      fc.property(messages, (list) => {
        const once = normalizeTranscript(list);
        expect(normalizeTranscript(once)).toEqual(once);
      }),
    );
  });

  it("keeps every user's text and every call, in order", () => {
    fc.assert(
      fc.property(messages, (list) => {
        const users = (all: readonly Message[]) =>
          all.filter((m) => m.type === "user" && m.content.some((part) => part.type !== "text" || part.text !== ""));
        const calls = (all: readonly Message[]) => [
          ...new Set(all.flatMap((m) => (m.type === "assistant" && m.output.type === "toolCall" ? [m.output.id] : []))),
        ];
        const normal = normalizeTranscript(list);
        expect(users(normal).map((m) => m.id)).toEqual(users(list).map((m) => m.id));
        expect(calls(normal)).toEqual(calls(list));
      }),
    );
  });

  it("becomes turns that alternate, the user's first, with nothing lost", () => {
    fc.assert(
      fc.property(messages, (list) => {
        const normal = normalizeTranscript(list);
        const turns = alternateTurns(normal);
        turns.forEach((turn, i) => {
          expect(turn.role).toBe(i % 2 === 0 ? "user" : "assistant");
        });
        expect(turns.flatMap((turn) => turn.messages as Message[])).toEqual(normal);
      }),
    );
  });

  it("stays a prefix of what it becomes when messages are added after it", () => {
    fc.assert(
      fc.property(messages, (list) => {
        const before = normalizeTranscript(list);
        const after = normalizeTranscript([...before, say("more"), text("s9", "x")]);
        expect(after.slice(0, before.length)).toEqual(before);
      }),
    );
  });
});

describe("WireIds", () => {
  it("keeps an id that fits, and mends one that does not", () => {
    const wire = new WireIds(idRules.anthropic);
    expect(wire.toWire("toolu_01-Ab")).toBe("toolu_01-Ab");
    expect(wire.toWire("call|fc.1")).toBe("call_fc_1");
    expect(wire.fromWire("call_fc_1")).toBe("call|fc.1");
    expect(wire.fromWire("never sent")).toBe("never sent");
  });

  for (const [name, rule] of Object.entries(idRules)) {
    it(`maps any ids to distinct ones that ${name} takes, and back`, () => {
      const shape = new RegExp(
        `^(?:${rule.allowed.source}){${"exact" in rule ? rule.maxLength : 1},${rule.maxLength}}$`,
      );
      const some = fc.array(fc.oneof(fc.string(), fc.string({ maxLength: 200 }), fc.constantFrom("a.b", "a|b", "a_b")));
      fc.assert(
        fc.property(some, (list) => {
          const ids = new WireIds(rule);
          const wires = list.map((id) => ids.toWire(id));
          for (const wire of wires) expect(wire).toMatch(shape);
          expect(wires.map((wire) => ids.fromWire(wire))).toEqual(list);
          expect(list.map((id) => ids.toWire(id))).toEqual(wires);
        }),
      );
    });
  }
});

describe("withoutMedia", () => {
  it("leaves a note of what stood there, and everything else as it was", () => {
    const plain = say("Hi");
    const source = { type: "url", url: "https://x.example/a.png" } as const;
    const shot: Message = {
      type: "user",
      id: "shot",
      role: "user",
      content: [
        { type: "text", text: "See" },
        { type: "image", mediaType: "image/png", source },
        { type: "file", mediaType: "application/pdf", name: "a.pdf", source: { type: "base64", data: "AA==" } },
        { type: "resource", uri: "x:y" },
      ],
    };
    const [first, second] = withoutMedia([plain, shot]);
    expect(first).toBe(plain);
    expect(second).toMatchObject({
      id: "shot",
      content: [
        { type: "text", text: "See" },
        { type: "text", text: "[image (image/png) at https://x.example/a.png, which this model cannot see]" },
        { type: "text", text: "[file a.pdf (application/pdf), which this model cannot see]" },
        { type: "resource", uri: "x:y" },
      ],
    });
  });
});
