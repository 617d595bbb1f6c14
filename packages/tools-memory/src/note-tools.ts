import { defineTool, ToolCallResult, type ToolImpl, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import type { MemoryNotes, NoteHit } from "./notes.js";

/** The arguments of `memory_search`. */
export interface MemorySearchInput {
  query: string;
  /** Default: 6. */
  max_results?: number | undefined;
  /** Between 0 and 1. Default: 0. */
  min_score?: number | undefined;
}

/** What `memory_search` gives beside its text. */
export interface MemorySearchOutput {
  hits: { path: string; from: number; to: number; score: number; text: string; days_old?: number | undefined }[];
}

/** The arguments of `memory_get`. */
export interface MemoryGetInput {
  path: string;
  /** First line, from 1. Default: 1. */
  from?: number | undefined;
  /** How many. Default: 200. */
  lines?: number | undefined;
}

/** What `memory_get` gives beside its text. */
export interface MemoryGetOutput {
  path: string;
  from: number;
  to: number;
  total: number;
  text: string;
}

/** Settings of `memory_search`. */
export interface MemorySearchParams {
  /** Notes that were not changed for so many days are shown with their age. Default: 30. */
  staleDays: number;
}

const MAX_RESULTS = 50;
const MAX_LINES = 1000;
const LINES = 200;
const MAX_HIT = 4000; // characters: a line may be of any length
const DAY_MS = 86_400_000;
const OFF = "There is no memory to search: it is not enabled here. Go on without it.";

/** Searches notes that outlive sessions. Without `notes` it says that there are none. `now`: the machine's clock. */
export function memorySearchTool(
  notes: MemoryNotes | undefined,
  params: Partial<MemorySearchParams> = {},
  now: () => number = Date.now,
): TypedTool<MemorySearchInput, MemorySearchOutput> {
  return defineTool({
    id: "memory_search",
    namespace: "memory",
    kind: "memorySearch",
    category: "memory",
    description:
      "Search notes of earlier work.\nFinds what was written down in earlier sessions: decisions, preferences, how things are " +
      "done here. What a note says may be out of date.",
    input: Type.Object(
      {
        query: Type.String({ minLength: 1, description: "Words that it is about." }),
        max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESULTS, default: 6 })),
        min_score: Type.Optional(
          Type.Number({ minimum: 0, maximum: 1, default: 0, description: "Leaves out what fits less, from 0 to 1." }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      hits: Type.Array(
        Type.Object({
          path: Type.String(),
          from: Type.Integer(),
          to: Type.Integer(),
          score: Type.Number(),
          text: Type.String(),
          days_old: Type.Optional(Type.Integer()),
        }),
      ),
    }),
    params: {
      schema: Type.Object({ staleDays: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
      defaults: { staleDays: 30, ...params },
    },
    run: async ({ query, max_results = 6, min_score = 0 }, ctx) => {
      if (!notes) return new ToolCallResult([{ type: "text", text: OFF }], { output: { hits: [] } });
      if (query.trim() === "") return ToolCallResult.failure("no query", `${ctx.names.param("query")} is empty.`);
      const all = await notes.search(query, { limit: max_results, signal: ctx.signal });
      const hits = all
        .filter(({ score }) => score >= min_score)
        .slice(0, max_results)
        .map((hit) => rowOf(hit, now(), ctx.params.staleDays));
      if (hits.length === 0) {
        const text = "Nothing was noted about that. Try other words, or fewer.";
        return new ToolCallResult([{ type: "text", text }], { output: { hits } });
      }
      const texts = hits.map(({ path, from, to, score, text, days_old }) => {
        const age = days_old === undefined ? "" : `, written ${days_old} days ago: check that it still holds`;
        return `${path}:${from}-${to} (${score.toFixed(2)}${age})\n${text}`;
      });
      return new ToolCallResult([{ type: "text", text: texts.join("\n\n") }], { output: { hits } });
    },
  });
}

/** Reads a note that {@link memorySearchTool} found. */
export function memoryGetTool(notes: MemoryNotes | undefined): TypedTool<MemoryGetInput, MemoryGetOutput> {
  return defineTool({
    id: "memory_get",
    namespace: "memory",
    kind: "memoryGet",
    category: "memory",
    description: "Read a note of earlier work.\nBy the path that a search of the notes gave, whole or from a line on.",
    input: Type.Object(
      {
        path: Type.String({ minLength: 1 }),
        from: Type.Optional(Type.Integer({ minimum: 0, default: 1, description: "First line, from 1." })),
        lines: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, default: LINES })),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      path: Type.String(),
      from: Type.Integer(),
      to: Type.Integer(),
      total: Type.Integer(),
      text: Type.String(),
    }),
    capabilities: { readOnly: true },
    run: async ({ path: asked, from: first = 1, lines: count = LINES }, ctx) => {
      const path = asked.trim();
      if (!notes) return ToolCallResult.failure("not enabled", OFF);
      const note = await notes.get(path, { signal: ctx.signal });
      if (note === undefined) {
        const search = ctx.names.toolOf("memorySearch", "memory_search");
        const how = search === undefined ? "" : ` Look for it with ${search}.`;
        return ToolCallResult.failure(`no note "${path}"`, `There is no note "${path}".${how}`);
      }
      const all = note.replace(/\r?\n$/, "").split(/\r?\n/);
      const from = Math.max(1, first);
      if (from > all.length) {
        const text = `"${path}" has ${all.length} lines; ${ctx.names.param("from")} ${from} is behind its end.`;
        return ToolCallResult.failure("past the end", text);
      }
      const to = Math.min(all.length, from + count - 1);
      const text = all.slice(from - 1, to).join("\n");
      const more =
        to < all.length
          ? `\n[Lines ${from} to ${to} of ${all.length}. Go on with ${ctx.names.param("from")} ${to + 1}.]`
          : "";
      const output = { path, from, to, total: all.length, text };
      return new ToolCallResult([{ type: "text", text: `${text === "" ? "(empty)" : text}${more}` }], { output });
    },
  });
}

/** `memory_search` and `memory_get` over the same notes. */
export function noteTools(notes: MemoryNotes | undefined, params: Partial<MemorySearchParams> = {}): ToolImpl[] {
  return [memorySearchTool(notes, params), memoryGetTool(notes)];
}

function rowOf({ changedAt, ...hit }: NoteHit, now: number, staleDays: number): MemorySearchOutput["hits"][number] {
  const days = changedAt === undefined ? 0 : Math.floor((now - changedAt) / DAY_MS);
  const { path, from, to, score } = hit;
  const text =
    hit.text.length <= MAX_HIT ? hit.text : `${hit.text.slice(0, MAX_HIT).replace(/[\ud800-\udbff]$/, "")} [... cut]`;
  return { path, from, to, score: Math.round(score * 1000) / 1000, text, ...(days >= staleDays && { days_old: days }) };
}
