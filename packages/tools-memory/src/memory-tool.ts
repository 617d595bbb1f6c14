import {
  defineCommands,
  defineTool,
  ToolCallResult,
  type ToolCapabilities,
  type ToolConstructor,
  type ToolImpl,
  toolFn,
} from "@shedkit/tool";
import type { MemoryAccess } from "@shedkit/types";
import * as Type from "@sinclair/typebox";
import { changing, isSame, listed, oneLine, placeOf, Refusal } from "./facts.js";

/** Limits of a memory: all of it is shown to the model, so it must stay small. */
export interface MemoryToolOptions {
  /** How many facts. Default: 100. */
  maxFacts?: number | undefined;
  /** The length of one, in characters. Default: 1000. */
  maxFactChars?: number | undefined;
}

const Changed = Type.Object({ version: Type.Integer(), facts: Type.Integer() });
const Fact = Type.String({ minLength: 1, description: "One fact, in one sentence." });
const Old = Type.String({ minLength: 1, description: "The fact that is meant: its text, or a part that only it has." });

/** Adds to, removes from and changes the facts of a memory. */
export function memoryTool(memory: MemoryAccess, options: MemoryToolOptions = {}): ToolImpl {
  const { maxFacts = 100, maxFactChars = 1000 } = options;
  const capabilities: Partial<ToolCapabilities> = { destructive: false, touches: () => ["memory"] };
  const checked = (fact: string): string => {
    const text = oneLine(fact);
    if (text === "") throw new Refusal("nothing to remember", "The fact is empty. Say what is to be remembered.");
    if (text.length > maxFactChars) {
      const length = `It has ${text.length} characters; ${maxFactChars} are the most.`;
      throw new Refusal("too long", `${length} Say it shorter, or keep it in a file and remember where.`);
    }
    return text;
  };
  const add = defineTool({
    id: "add",
    kind: "memory",
    description: "Remembers a fact: what the user likes, wants or decided, what was found out.",
    input: Type.Object({ fact: Fact }, { additionalProperties: false }),
    output: Changed,
    capabilities: { ...capabilities, idempotent: true },
    run: ({ fact }) =>
      changing(
        memory,
        (facts) => {
          const text = checked(fact);
          if (facts.some((known) => isSame(known, text))) throw new Refusal("known", "That is remembered already.");
          if (facts.length >= maxFacts) {
            const full = `The memory is full (${maxFacts} facts).`;
            throw new Refusal(
              "full",
              `${full} Remove what does not matter any more, or replace several by one:\n${listed(facts)}`,
            );
          }
          return [...facts, text];
        },
        "Remembered.",
      ),
  });
  const remove = defineTool({
    id: "remove",
    kind: "memory",
    description: "Forgets a fact.",
    input: Type.Object({ old_fact: Old }, { additionalProperties: false }),
    output: Changed,
    capabilities,
    run: ({ old_fact }) => changing(memory, (facts) => facts.toSpliced(placeOf(facts, old_fact), 1), "Forgotten."),
  });
  const replace = defineTool({
    id: "replace",
    kind: "memory",
    description: "Puts a fact in the place of another.",
    input: Type.Object({ old_fact: Old, fact: Fact }, { additionalProperties: false }),
    output: Changed,
    capabilities: { ...capabilities, idempotent: true },
    run: ({ old_fact, fact }) =>
      changing(
        memory,
        (facts) => {
          const text = checked(fact);
          const place = placeOf(facts, old_fact);
          if (facts.some((known, i) => i !== place && isSame(known, text))) {
            throw new Refusal("known", "That is remembered already. Remove the old fact instead.");
          }
          return facts.with(place, text);
        },
        "Replaced.",
      ),
  });
  const list = defineTool({
    id: "list",
    kind: "memory",
    description: "Shows all that is remembered.",
    input: Type.Object({}, { additionalProperties: false }),
    capabilities: { readOnly: true, touches: () => ["memory"] },
    run: async () => {
      const facts = await memory.facts();
      return new ToolCallResult([{ type: "text", text: listed(facts) }], { output: facts });
    },
  });
  return defineCommands({
    name: "memory",
    namespace: "memory",
    description:
      "Remember facts for the rest of this session.\nWhat is remembered stays in sight, however long it gets.",
    commands: { add, remove, replace, list },
  });
}

/** {@link memoryTool} over the memory of the session that it is built for. */
export function sessionMemoryTool(options: MemoryToolOptions = {}): ToolConstructor {
  return toolFn("memory", ({ memory }) => memoryTool(memory, options));
}
