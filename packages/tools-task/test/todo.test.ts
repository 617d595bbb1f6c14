import { callTool, Resources } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { type TodoInput, todoTool } from "../src/index.js";

/** One list, as a session keeps it. */
function list() {
  const resources = new Resources();
  const tool = todoTool();
  return async (input: TodoInput) => callTool(tool, input, { resources });
}

describe("todo", () => {
  it("adds items, changes them, keeps their order", async () => {
    const todo = list();
    await todo({
      todos: [
        { id: "1", content: "Read" },
        { id: "2", content: "Write", status: "in_progress" },
      ],
    });
    const { text, output } = await todo({
      todos: [
        { id: "1", status: "completed" },
        { id: "3", content: "Test" },
      ],
    });
    expect(text).toBe("[x] 1: Read\n[>] 2: Write\n[ ] 3: Test\n\n2 of 3 left.");
    expect(output).toEqual({
      todos: [
        { id: "1", content: "Read", status: "completed" },
        { id: "2", content: "Write", status: "in_progress" },
        { id: "3", content: "Test", status: "pending" },
      ],
    });
  });

  it("takes its id for the content of an item that has none", async () => {
    expect((await list()({ todos: [{ id: "fix it", content: "" }] })).text).toContain("[ ] fix it: fix it");
  });

  it("becomes what is given where it is not to be merged", async () => {
    const todo = list();
    await todo({
      todos: [
        { id: "1", content: "A" },
        { id: "2", content: "B" },
      ],
    });
    expect((await todo({ todos: [{ id: "3", content: "C" }], merge: false })).text).toBe("[ ] 3: C\n\n1 of 1 left.");
    expect((await todo({ todos: [], merge: false })).text).toBe("Nothing is on the list.");
  });

  it("keeps what an item says that is named again without it", async () => {
    const todo = list();
    await todo({
      todos: [
        { id: "1", content: "A" },
        { id: "2", content: "B" },
      ],
    });
    const next: TodoInput = {
      todos: [{ id: "2", status: "completed" }, { id: "3", content: "C" }, { id: "4" }],
      merge: false,
    };
    expect((await todo(next)).text).toBe("[x] 2: B\n[ ] 3: C\n[ ] 4: 4\n\n2 of 3 left.");
  });

  it("takes a change of known items for one, though it was said not to merge", async () => {
    const todo = list();
    await todo({
      todos: [
        { id: "1", content: "A" },
        { id: "2", content: "B" },
      ],
    });
    const { text } = await todo({ todos: [{ id: "2", status: "cancelled" }], merge: false });
    expect(text).toBe("[ ] 1: A\n[-] 2: B\n\n1 of 2 left.");
  });

  it("is shown by an empty call", async () => {
    const todo = list();
    expect((await todo({ todos: [] })).text).toBe("Nothing is on the list.");
    await todo({ todos: [{ id: "1", content: "A", status: "completed" }] });
    expect((await todo({ todos: [] })).text).toBe("[x] 1: A\n\nAll is done.");
  });

  it("refuses an id that stands twice, and too many items, and changes nothing", async () => {
    const todo = list();
    await todo({ todos: [{ id: "1", content: "A" }] });
    expect((await todo({ todos: [{ id: "2" }, { id: "2" }] })).errorDetail).toBe("duplicate id");
    const many = Array.from({ length: 200 }, (_, i) => ({ id: `x${i}` }));
    expect((await todo({ todos: many })).errorDetail).toBe("too many items");
    await expect(todo({ todos: [{ id: "1", status: "done" as never }] })).rejects.toMatchObject({
      kind: "invalidArguments",
    });
    expect((await todo({ todos: [] })).text).toBe("[ ] 1: A\n\n1 of 1 left.");
  });
});
