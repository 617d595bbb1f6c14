import { MemoryDocumentStore } from "@shedkit/store";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { metadataOf, type ToolImpl } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkValid, echoTool, generationError, readOnly, sessionOf } from "./helpers.js";

const answer = fc.oneof(
  fc.constantFrom<ScriptedAnswer>(
    "An answer.",
    { thinking: "Only a thought." },
    ["An answer.", { thinking: "And a thought." }],
    [{ output: { type: "text", text: "" } }, { thinking: "   " }, "An answer."],
    ["Half", { fail: generationError("server") }],
    [{ thinking: "Hm." }, { fail: generationError("network", false) }],
    [{ fail: generationError("contextOverflow") }],
  ),
  fc
    .array(fc.constantFrom("echo", "look", "unknown"), { minLength: 1, maxLength: 3 })
    .map(
      (names): ScriptedAnswer => ["Let me see.", ...names.map((call, i) => ({ call, arguments: { text: `${i}` } }))],
    ),
);

const act = fc.record({ at: fc.nat(25), what: fc.constantFrom("abort", "steer", "followUp") });

describe("a session that is read again", () => {
  it("sends the same conversation as the one that went on, whatever happened in it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1, maxLength: 8 }),
        fc.array(act, { maxLength: 4 }),
        async (answers, acts) => {
          const docStore = new MemoryDocumentStore();
          let probing = false;
          const provider = new ScriptedProvider((_, index) => (probing ? "Probed." : (answers[index] ?? "The end.")));
          const look = readOnly(echoTool());
          const looking: ToolImpl = {
            ...look,
            definition: () => named("look"),
            metadata: { ...metadataOf(look), id: "look" },
          };
          const builder = sessionOf(provider, echoTool(), looking).withDocStore(docStore).withSessionId("s");
          const session = await builder.build();
          let shown = 0;
          for (const prompt of ["One", "Two"]) {
            for await (const item of session.runTurnStream(`${prompt} ${"words ".repeat(50)}`)) {
              if (item.type !== "record") continue;
              shown++;
              for (const { at, what } of acts) {
                if (at !== shown) continue;
                if (what === "abort") session.abort();
                else session[what as "steer" | "followUp"](`said at ${at}`);
              }
            }
          }
          probing = true;
          const fork = await session.fork();
          await session.ask("Probe");
          const live = provider.requests.at(-1)?.messages.slice(0, -1);
          await session.end();
          await fork.ask("Probe");
          const replayed = provider.requests.at(-1)?.messages.slice(0, -1);
          expect(replayed).toEqual(live);
          checkValid(live ?? []);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function named(name: string) {
  const definition = echoTool().definition();
  if (definition.type !== "single") throw new Error("not a single tool");
  return { ...definition, definition: { ...definition.definition, name } };
}
