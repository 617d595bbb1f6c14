import { type BackgroundTask, backgroundTasks, callTool, Resources } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { monitorTool, waitTool } from "../src/index.js";

/** A task that the test writes to, and ends. */
function task(id: string, written = "") {
  let [text, over] = [written, false];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    write: (more: string) => {
      text += more;
    },
    end: () => {
      over = true;
      end();
    },
    listed: (): BackgroundTask => ({
      ...{ id, description: `is ${id}`, ended, running: !over, status: over ? "ended, exit 0" : "running" },
      output: async (from) => ({ text: text.slice(from), next: text.length }),
    }),
  };
}

type Task = ReturnType<typeof task>;

function resourcesWith(...tasks: Task[]): Resources {
  const resources = new Resources();
  resources.insert(backgroundTasks, new Map([["tests", () => tasks.map(({ listed }) => listed())]]));
  return resources;
}

const waiting = async (resources: Resources, args: object, signal?: AbortSignal) =>
  (await callTool(waitTool(), args, { resources, signal })).text;
const watching = async (resources: Resources, args: object, signal?: AbortSignal) =>
  (await callTool(monitorTool(), args, { resources, signal })).text;

describe("wait", () => {
  it("waits for the first that ends, or for all", async () => {
    const [a, b] = [task("a"), task("b")];
    const resources = resourcesWith(a, b);
    const first = waiting(resources, {});
    b.end();
    expect(await first).toBe("a (is a): running\nb (is b): ended, exit 0\n1 of 2 still runs.");
    const both = waiting(resources, { task_ids: ["a", "b"], wait_for: "all" });
    a.end();
    expect(await both).toBe("a (is a): ended, exit 0\nb (is b): ended, exit 0");
    expect(await waiting(resources, {})).toBe("Nothing runs in the background.");
  });

  it("gives up when its time is up, or the call is cancelled", async () => {
    const resources = resourcesWith(task("a"));
    expect(await waiting(resources, { timeout_ms: 1 })).toContain("1 of 1 still runs.");
    const cancel = new AbortController();
    const waited = waiting(resources, {}, cancel.signal);
    cancel.abort();
    await expect(waited).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("names what there is where an id is unknown", async () => {
    expect(await waiting(resourcesWith(task("a")), { task_ids: ["x"] })).toBe('There is no task "x". There are: a.');
    expect(await waiting(new Resources(), { task_ids: ["x"] })).toContain("Nothing runs in the background.");
  });
});

describe("monitor", () => {
  it("shows what is new as soon as it is there, line by line", async () => {
    const a = task("a", "one\ntwo\nthr");
    const resources = resourcesWith(a);
    expect(await watching(resources, { task_id: "a" })).toBe("one\ntwo\na: running.");
    const more = watching(resources, { task_id: "a" });
    a.write("ee\n");
    expect(await more).toBe("three\na: running.");
    expect(await watching(resources, { task_id: "a", timeout_ms: 1 })).toBe("(nothing new)\na: running.");
    a.write("half");
    a.end();
    expect(await watching(resources, { task_id: "a" })).toBe("half\na: ended, exit 0.");
    expect(await watching(resources, { task_id: "a" })).toBe("(nothing new)\na: ended, exit 0.");
  });

  it("waits for a text, and leaves other lines out", async () => {
    const a = task("a", "noise\n");
    const resources = resourcesWith(a);
    const heard = watching(resources, { task_id: "a", contains: "ready" });
    a.write("noise\r\nready on 80\r\n");
    expect(await heard).toBe("ready on 80\na: running.");
  });

  it("cuts long lines and many of them", async () => {
    const a = task("a", `${"x".repeat(900)}\n${Array.from({ length: 2000 }, (_, i) => `line ${i}\n`).join("")}`);
    const text = await watching(resourcesWith(a), { task_id: "a" });
    expect(text.length).toBeLessThan(3200);
    expect(text).toMatch(/^\[\d+ earlier lines left out\]\n/);
    expect(text).toContain("line 1999");
    const long = await watching(resourcesWith(task("b", `${"y".repeat(900)}\n`)), { task_id: "b" });
    expect(long).toContain(`${"y".repeat(500)}...`);
  });

  it("looks through the whole of a long output that comes in pieces, after its end too", async () => {
    const text = `${"noise\n".repeat(500)}the needle\n${"noise\n".repeat(500)}last`;
    const piece = 1000;
    const pieces: BackgroundTask = {
      ...{ id: "a", description: "a", running: false, status: "ended, exit 0", ended: Promise.resolve() },
      output: async (from) => ({ text: text.slice(from, from + piece), next: Math.min(text.length, from + piece) }),
    };
    const resources = new Resources();
    resources.insert(backgroundTasks, new Map([["tests", () => [pieces]]]));
    expect(await watching(resources, { task_id: "a", contains: "needle" })).toBe("the needle\na: ended, exit 0.");
    expect(await watching(resources, { task_id: "a", contains: "last" })).toBe("last\na: ended, exit 0.");
    expect(await watching(resources, { task_id: "a" })).toBe("(nothing new)\na: ended, exit 0.");
  });

  it("does not gather a line that never ends", async () => {
    const a = task("a", "x".repeat(70_000));
    expect(await watching(resourcesWith(a), { task_id: "a" })).toBe(`${"x".repeat(500)}...\na: running.`);
  });

  it("takes a time with a fraction", async () => {
    expect(await watching(resourcesWith(task("a")), { task_id: "a", timeout_ms: 1.5 })).toContain("(nothing new)");
  });

  it("stops when the call is cancelled, and says what cannot be watched", async () => {
    const cancel = new AbortController();
    const watched = watching(resourcesWith(task("a")), { task_id: "a" }, cancel.signal);
    cancel.abort();
    await expect(watched).rejects.toMatchObject({ kind: "cancelled" });
    const resources = new Resources();
    const { output: _, ...silent } = task("a").listed();
    resources.insert(backgroundTasks, new Map([["tests", () => [silent]]]));
    expect(await watching(resources, { task_id: "a" })).toContain("writes nothing that can be watched");
  });
});
