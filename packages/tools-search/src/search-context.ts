import { defineTool, ToolCallResult, type ToolConstructor, ToolError, type TypedTool, toolFn } from "@shedkit/tool";
import type { ContextSearch, KnowledgeHit, SearchMode } from "@shedkit/types";
import * as Type from "@sinclair/typebox";

/** The arguments of `search_context`. */
export interface SearchContextInput {
  query: string;
  /** Messages (`semantic`), what was remembered of them (`memory`), or both. Default: `hybrid`. */
  mode?: SearchMode | "Semantic" | "Memory" | "Graph" | "Hybrid" | undefined;
  /** How many hits. Default: 10. */
  k?: number | undefined;
}

const MODES = ["hybrid", "semantic", "memory", "graph", "Hybrid", "Semantic", "Memory", "Graph"] as const;

const Input = Type.Object(
  {
    query: Type.String({ minLength: 1, description: "Words that it was about." }),
    mode: Type.Optional(
      Type.Union(
        MODES.map((mode) => Type.Literal(mode)),
        { description: "semantic: messages. memory: what was noted of them. hybrid: both.", default: "hybrid" },
      ),
    ),
    k: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "How many hits.", default: 10 })),
  },
  { additionalProperties: false },
);

const Output = Type.Array(
  Type.Object({
    source: Type.String(),
    score: Type.Number(),
    content: Type.String(),
    record_id: Type.Optional(Type.String()),
  }),
);

const MAX_HIT = 4000; // characters

/** Finds what was said earlier in the session, also what the context does not hold any more. */
export function searchContextTool(
  context: ContextSearch,
): TypedTool<SearchContextInput, { source: string; score: number; content: string; record_id?: string | undefined }[]> {
  return defineTool({
    id: "search_context",
    namespace: "search",
    kind: "memorySearch",
    category: "conversation",
    description: "Search this conversation.\nFinds what was said or noted earlier, also what is not shown any more.",
    input: Input,
    output: Output,
    run: async ({ query, mode = "hybrid", k = 10 }, ctx) => {
      if (query.trim() === "") {
        throw new ToolError("invalidArguments", ctx.names.tool, `${ctx.names.param("query")} is empty.`);
      }
      const hits = await context.search(query, { mode: mode.toLowerCase() as SearchMode, limit: k });
      if (hits.length === 0) return new ToolCallResult([{ type: "text", text: nothing(mode) }], { output: [] });
      return hits.slice(0, k).map(shown);
    },
  });
}

/** {@link searchContextTool} over the context of the session that it is built for. */
export function sessionContextTool(): ToolConstructor {
  return toolFn("search_context", ({ context }) => searchContextTool(context));
}

function nothing(mode: string): string {
  if (mode.toLowerCase() === "graph") return "Nothing was found: there is no graph. Search with the mode hybrid.";
  return "Nothing was found. Try other words, or fewer.";
}

function shown({ source, score, content, recordId }: KnowledgeHit) {
  const cut = content.length > MAX_HIT ? `${content.slice(0, MAX_HIT).replace(/[\ud800-\udbff]$/, "")} [...]` : content;
  return { source, score, content: cut, ...(recordId === undefined ? {} : { record_id: recordId }) };
}
