import { defineTool, ToolCallResult, type TypedTool, type TypedToolContext } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";

/** How far a piece of work is. */
export type TodoStatus = "pending" | "in_progress" | "completed" | "cancelled";

/** An entry of the list. */
export interface TodoItem {
  id: string;
  content: string;
  status: TodoStatus;
}

/** The arguments of `todo`. */
export interface TodoInput {
  todos: { id: string; content?: string | undefined; status?: TodoStatus | undefined }[];
  /** Changes the items that are named and adds new ones. False: the list becomes what is given. Default: true. */
  merge?: boolean | undefined;
}

const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;
const MOST = 200; // items: all of them are shown on each call
const MAX_CONTENT = 2000;

const Status = Type.Union(STATUSES.map((status) => Type.Literal(status)));
const Item = Type.Object({ id: Type.String(), content: Type.String(), status: Status });

const Input = Type.Object(
  {
    todos: Type.Array(
      Type.Object(
        {
          id: Type.String({ minLength: 1, maxLength: 100, description: "Short and unique, e.g. 1." }),
          content: Type.Optional(Type.String({ maxLength: MAX_CONTENT, description: "What is to be done." })),
          status: Type.Optional(Status),
        },
        { additionalProperties: false },
      ),
      { maxItems: MOST },
    ),
    merge: Type.Optional(
      Type.Boolean({
        default: true,
        description: "True: changes the named items, adds new ones, keeps the rest. False: this is the whole list.",
      }),
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({ todos: Type.Array(Item) });

/** Keeps the list of what is to be done. It is the tool's state, and so part of the session. */
export function todoTool(): TypedTool<TodoInput, { todos: TodoItem[] }> {
  return defineTool({
    id: "todo",
    namespace: "task",
    kind: "plan",
    category: "task",
    description:
      "Keep a list of what is to be done.\nFor work of several steps: write the steps down, have one of them in_progress, " +
      "mark each completed when it is. An empty list only shows it.",
    input: Input,
    output: Output,
    state: { schema: Output, version: 1, initial: () => ({ todos: [] as TodoItem[] }) },
    // It changes nothing but its own list, and two calls at once would lose one of them.
    capabilities: { readOnly: true, idempotent: true, touches: () => ["todo"], maxConcurrency: 1 },
    run: (input, ctx) => change(input, ctx),
  });
}

function change(
  { todos, merge = true }: TodoInput,
  ctx: TypedToolContext<undefined, { todos: TodoItem[] }>,
): ToolCallResult {
  const ids = todos.map(({ id }) => id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) {
    const text = `The id ${JSON.stringify(twice)} stands in ${ctx.names.param("todos")} more than once. Nothing was changed.`;
    return ToolCallResult.failure("duplicate id", text);
  }
  const before = ctx.state.get().todos;
  // Who names only items that are there, without their contents, means to change them.
  const known = new Set(before.map(({ id }) => id));
  const forgot = todos.length > 0 && todos.every(({ id, content }) => known.has(id) && !content);
  const after = merge || forgot ? merged(before, todos) : merged([], withContents(todos, before));
  if (after.length > MOST) {
    const text = `The list would have ${after.length} items; ${MOST} are the most. Nothing was changed.`;
    return ToolCallResult.failure("too many items", text);
  }
  if (todos.length > 0 || !merge) ctx.state.set({ todos: after });
  return new ToolCallResult([{ type: "text", text: shown(after) }], {
    output: { todos: after.map((item) => ({ ...item })) },
  });
}

function merged(before: readonly TodoItem[], changes: TodoInput["todos"]): TodoItem[] {
  const items = new Map(before.map((item) => [item.id, item]));
  for (const { id, content, status } of changes) {
    const item = items.get(id);
    items.set(id, {
      id,
      content: content || item?.content || id,
      status: status ?? item?.status ?? "pending",
    });
  }
  return [...items.values()];
}

/** An item that is named again without its content means the same work: replacing the list must not lose it. */
function withContents(todos: TodoInput["todos"], before: readonly TodoItem[]): TodoInput["todos"] {
  const contents = new Map(before.map(({ id, content }) => [id, content]));
  return todos.map((item) => ({ ...item, content: item.content || contents.get(item.id) }));
}

const MARKS: { readonly [status in TodoStatus]: string } = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  cancelled: "[-]",
};

function shown(items: readonly TodoItem[]): string {
  if (items.length === 0) return "Nothing is on the list.";
  const open = items.filter(({ status }) => status === "pending" || status === "in_progress").length;
  const lines = items.map(({ id, content, status }) => `${MARKS[status]} ${id}: ${content}`);
  return [...lines, "", open === 0 ? "All is done." : `${open} of ${items.length} left.`].join("\n");
}
