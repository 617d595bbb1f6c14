import { defineCommands, defineTool, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import type { ScheduledPrompt, Schedules } from "./schedules.js";
import { BadTime, inWords, whenOf } from "./when.js";

const MAX_PROMPT = 4000;

const Row = Type.Object({ id: Type.String(), prompt: Type.String(), when: Type.String(), next: Type.String() });
const CreateInput = Type.Object(
  {
    prompt: Type.String({
      minLength: 1,
      maxLength: MAX_PROMPT,
      description: "What is to be done then, with all that one needs to know for it.",
    }),
    cron: Type.Optional(Type.String({ description: 'Five fields, e.g. "30 9 * * 1-5": half past nine on workdays.' })),
    every: Type.Optional(Type.String({ description: "A period of at least a minute, e.g. 90s, 15m, 2h, 1d." })),
    at: Type.Optional(Type.String({ description: "One time, e.g. 2031-05-17T09:30:00 or with a zone, as +02:00." })),
    timezone: Type.Optional(Type.String({ description: "What the times are meant in, e.g. Europe/Berlin." })),
  },
  { additionalProperties: false },
);

/** Lets a model say what is to be done later: `create`, `list`, `delete`. */
export function scheduleTool(schedules: Schedules): ToolImpl {
  const create = defineTool({
    id: "create",
    namespace: "task",
    kind: "schedule",
    description: "Schedules something: by cron expression, every so often, or once. Give one of the three.",
    input: CreateInput,
    output: Row,
    capabilities: { destructive: false, touches: () => ["schedules"] },
    run: async ({ prompt, timezone = schedules.timezone, ...times }, ctx) => {
      if (prompt.trim() === "") return ToolCallResult.failure("no prompt", `${ctx.names.param("prompt")} is empty.`);
      try {
        const zone = timezone?.trim() || undefined;
        const when = whenOf(times, zone, (canonical) => ctx.names.param(canonical), schedules.now);
        const entry = await schedules.create(prompt.trim(), when);
        const row = rowOf(entry);
        const text = `${row.id} is scheduled (${row.when}). It is ${new Date(schedules.now).toISOString()} now; due next: ${row.next}.`;
        return new ToolCallResult([{ type: "text", text }], { output: row });
      } catch (error) {
        if (error instanceof BadTime) return ToolCallResult.failure("not scheduled", error.message);
        throw error;
      }
    },
  });
  const list = defineTool({
    id: "list",
    namespace: "task",
    kind: "schedule",
    description: "Shows what is scheduled.",
    input: Type.Object({}, { additionalProperties: false }),
    output: Type.Object({ schedules: Type.Array(Row) }),
    capabilities: { readOnly: true, touches: () => ["schedules"] },
    run: async () => {
      const entries = await schedules.list();
      const lines = entries.map((entry) => {
        const { id, when, next, prompt } = rowOf(entry);
        const fault = entry.fault === undefined ? "" : `\n  The last time it could not be done: ${entry.fault}`;
        return `${id}: ${when}, next ${next}\n  ${prompt.replaceAll("\n", "\n  ")}${fault}`;
      });
      const text = lines.length === 0 ? "Nothing is scheduled." : lines.join("\n");
      return new ToolCallResult([{ type: "text", text }], { output: { schedules: entries.map(rowOf) } });
    },
  });
  const remove = defineTool({
    id: "delete",
    namespace: "task",
    kind: "schedule",
    description: "Takes something from the schedule.",
    input: Type.Object({ id: Type.String({ description: "e.g. schedule-1" }) }, { additionalProperties: false }),
    output: Type.Object({ id: Type.String() }),
    capabilities: { destructive: false, touches: () => ["schedules"] },
    run: async ({ id: asked }) => {
      const id = asked.trim();
      if (await schedules.delete(id)) {
        return new ToolCallResult([{ type: "text", text: `${id} is not scheduled any more.` }], { output: { id } });
      }
      const ids = (await schedules.list()).map((entry) => entry.id);
      const there = ids.length === 0 ? "Nothing is scheduled." : `There are: ${ids.join(", ")}.`;
      return ToolCallResult.failure(`no such schedule: ${id}`, `There is no schedule "${id}". ${there}`);
    },
  });
  return defineCommands({
    name: "schedule",
    namespace: "task",
    description: "Do something later, or again and again.\nWhat is due then comes as a message of its own.",
    commands: { create, list, delete: remove },
  });
}

function rowOf({ id, prompt, when, next }: ScheduledPrompt): {
  id: string;
  prompt: string;
  when: string;
  next: string;
} {
  return { id, prompt, when: inWords(when), next: new Date(next).toISOString() };
}
