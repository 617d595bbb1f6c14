import { Buffer } from "node:buffer";
import { callTool, type ToolCallResult } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bashTool, type TerminalJob, taskOutputTool } from "../src/index.js";
import { linesOf, type WantedLines } from "../src/log-lines.js";
import { secretsOf } from "../src/node/secrets.js";
import type { NodeTerminal } from "../src/node.js";
import { terminalIn } from "./helpers.js";

const signal = new AbortController().signal;

/** A job that has written this. */
function jobOf(written: string | Uint8Array): TerminalJob {
  const bytes = typeof written === "string" ? Buffer.from(written) : written;
  return {
    exited: Promise.resolve({ code: 0, left: false }),
    size: async () => bytes.length,
    read: async (start, end) => bytes.subarray(start, end),
    kill: async () => {},
    dispose: async () => {},
  };
}

const lines = (written: string, wanted: WantedLines, limit = 10_000, secrets: string[] = []) =>
  linesOf(jobOf(written), wanted, limit, { secrets: secretsOf(secrets), signal });

describe("lines of a log", () => {
  it("are those that hold a text in any case, with lines around them, groups apart", async () => {
    const written = "a\nb\nERROR one\nc\nd\ne\nf\nan Error two\nerror three\ng\n";
    expect(await lines(written, { contains: "error" })).toEqual({
      text: "ERROR one\nan Error two\nerror three",
      cut: false,
    });
    expect((await lines(written, { contains: "error", context: 1 })).text).toBe(
      "b\nERROR one\nc\n--\nf\nan Error two\nerror three\ng",
    );
    expect((await lines(written, { contains: "error", context: 2 })).text).toBe(written.slice(0, -1));
    expect((await lines(written, { contains: "nothing" })).text).toBe("");
    expect((await lines("", { contains: "x" })).text).toBe("");
  });

  it("are the last ones", async () => {
    const written = "1\n2\n3\r\n4";
    expect(await lines(written, { tail: 2 })).toEqual({ text: "3\n4", cut: true });
    expect(await lines(written, { tail: 4 })).toEqual({ text: "1\n2\n3\n4", cut: false });
    expect((await lines(`${written}\n`, { tail: 1 })).text).toBe("4");
    expect((await lines("x 1\nx 2\ny\nx 3\n", { contains: "X", tail: 2 })).text).toBe("x 2\nx 3");
  });

  it("are as a person would see them", async () => {
    expect((await lines("\u001b[31mred\u001b[0m\n 1%\r 50%\r100%\n\u202e!\n", { tail: 9 })).text).toBe("red\n100%\n!");
  });

  it("are no more than there is room for, and a long one is shown where it holds the text", async () => {
    const { text, cut } = await lines("x 1\n".repeat(100_000), { contains: "x" }, 400);
    expect([text.length, cut]).toEqual([399, true]);
    const long = await lines(`${"a".repeat(500_000)}Here${"b".repeat(500_000)}`, { contains: "here" });
    expect(long.text).toMatch(/^a+Hereb+$/);
    expect([long.text.length, long.cut]).toEqual([2000, true]);
    expect((await lines("ä".repeat(3_000_000), { contains: "ä" })).text).toMatch(/^ä{2000}(?:\nä+)*$/);
    expect((await lines(`a${"\u{1f600}".repeat(2000)}\n`, { tail: 1 })).text).toMatch(/^a\u{1f600}{999}$/u);
  });

  it("are the last ones of a long log, from whole lines", async () => {
    const written = Array.from({ length: 200_000 }, (_, i) => `line ü ${i}`).join("\n");
    expect((await lines(written, { tail: 3 }, 200)).text).toBe("line ü 199997\nline ü 199998\nline ü 199999");
    expect((await lines(written, { tail: 3, contains: "ü 1999" }, 200)).text).toBe(
      "line ü 199997\nline ü 199998\nline ü 199999",
    );
    expect((await lines(written, { contains: "ü 77777", context: 1 })).text).toBe(
      "line ü 77776\nline ü 77777\nline ü 77778",
    );
  });

  it("hide secrets, of several lines and across the pieces that are read too", async () => {
    const secret = "-----BEGIN-----\nabcdef0123456789\n-----END-----";
    for (let shift = 0; shift < secret.length; shift++) {
      const before = `${"x".repeat(255)}\n`.repeat(1024).slice(shift);
      const written = `${before}a ${secret} b\nend`;
      expect((await lines(written, { contains: "a [hidden" }, 400, [secret])).text).toBe("a [hidden] b");
      expect((await lines(written, { contains: "abcdef" }, 400, [secret])).text).toBe("");
    }
  });

  it("are what looking at each line gives", async () => {
    const line = fc.constantFrom("a", "b", "A b", "", "c");
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 30 }),
        fc.nat(3),
        fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
        async (all, context, tail) => {
          const near = all.map((_, i) =>
            all
              .slice(Math.max(0, i - context), i + context + 1)
              .join()
              .toLowerCase(),
          );
          const expected: string[] = [];
          near.forEach((text, i) => {
            if (!text.includes("a")) return;
            if (context > 0 && expected.length > 0 && !near[i - 1]?.includes("a")) expected.push("--");
            expected.push(all[i] ?? "");
          });
          const { text } = await lines(all.map((one) => `${one}\n`).join(""), { contains: "a", context, tail });
          expect(text).toBe(expected.slice(tail === undefined ? 0 : -tail).join("\n"));
        },
      ),
    );
  });

  it("are not looked for any more when the call is cancelled", async () => {
    const wanted = { contains: "x" };
    const options = { secrets: undefined, signal: AbortSignal.abort(new Error("enough")) };
    await expect(linesOf(jobOf("x"), wanted, 100, options)).rejects.toThrow("enough");
  });
});

async function begun(terminal: NodeTerminal, command: string): Promise<void> {
  await bashTool(terminal).call({ command, description: "a test", is_background: true });
}

describe("task_output", () => {
  const looked = (terminal: NodeTerminal, args: object): Promise<ToolCallResult> =>
    callTool(taskOutputTool(terminal), args);

  it("shows the lines of a task that are asked for", async () => {
    const terminal = await terminalIn();
    await begun(terminal, "printf 'one\\nWarning: two\\nthree\\n'; exit 1");
    const task_ids = ["task-1"];
    expect((await looked(terminal, { task_ids, timeout_ms: 30_000, contains: "warning" })).text).toBe(
      "task-1 (a test): ended, exit 1\nWarning: two",
    );
    const tail = await looked(terminal, { task_ids, tail: 2 });
    expect(tail.text).toBe("task-1 (a test): ended, exit 1\nWarning: two\nthree");
    expect(tail.output).toMatchObject({ tasks: [{ truncated: true }] });
    expect((await looked(terminal, { task_ids, contains: "four" })).text).toContain("(no such line)");
  });

  it("lists the tasks where none is named, and waits for those that run where there is a time", async () => {
    const terminal = await terminalIn();
    expect((await looked(terminal, {})).text).toBe("No command runs in the background.");
    await begun(terminal, "echo done");
    await begun(terminal, "echo begun; while [ ! -e go ]; do sleep 0.02; done");
    await looked(terminal, { task_ids: ["task-1"], timeout_ms: 30_000 });
    const { text, output } = await looked(terminal, { timeout_ms: 1 });
    expect(text).toMatch(
      /^task-1 \(a test\): ended, exit 0, 5 bytes written\ntask-2 \(a test\): running, [06] bytes written$/,
    );
    expect(output).toMatchObject({
      tasks: [
        { task_id: "task-1", status: "completed", exit_code: 0, output_text: "", truncated: true },
        { task_id: "task-2", status: "running", output_text: "" },
      ],
    });
    await bashTool(terminal).call({ command: "touch go", description: "lets it end" });
    expect((await looked(terminal, { timeout_ms: 30_000 })).text).toContain("task-2 (a test): ended, exit 0, 6 bytes");
  });

  it("wants to know of which task lines are wanted", async () => {
    const terminal = await terminalIn();
    await begun(terminal, "true");
    expect((await looked(terminal, { tail: 5 })).text).toBe(
      "task_ids names no task to show lines of. There are: task-1.",
    );
  });
});
