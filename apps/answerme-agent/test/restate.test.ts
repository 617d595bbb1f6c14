import { once } from "node:events";
import { durableClient } from "@shedkit/durable-restate";
import { ScriptedServer } from "@shedkit/testing";
import type { SessionRecord } from "@shedkit/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restateBinary, startRestate } from "../../../packages/durable-restate/test/support/restate.js";
import { startPostgres } from "../../../packages/store-postgres/test/support/server.js";
import { parseCommand } from "../src/args.js";
import { Program, run, temporaryFolder, tour } from "./program.js";

const WORKER = ["serve", "--restate"];

describe("a worker's options", () => {
  it("are read, and told where they are wrong or belong to nothing", () => {
    expect(parseCommand(["serve", "--restate", "http://r:8080", "--workspace", "volume"])).toMatchObject({
      ...{ type: "serve", port: 9080 },
      restate: { ingress: "http://r:8080", admin: "http://r:9070", name: "answerme", workspace: "volume" },
    });
    const none = parseCommand([...WORKER, "http://r:8080", "--restate-admin", "none"]);
    expect(none).toMatchObject({ restate: { admin: undefined } });
    expect(() => parseCommand([...WORKER, "localhost:8080"])).toThrow(
      '--restate is "localhost:8080"; give the address of Restate\'s ingress, e.g. http://127.0.0.1:8080',
    );
    expect(() => parseCommand(["serve", "--workspace", "volume"])).toThrow(
      "--workspace belongs to answerme-agent serve --restate",
    );
    expect(() => parseCommand(["--restate", "http://r:8080", "Hi"])).toThrow("belongs to answerme-agent serve");
    expect(() => parseCommand([...WORKER, "http://r:8080", "--name", "a b"])).toThrow(
      '--name is "a b"; name the agent',
    );
  });

  it("must say where the sessions and the files are", async () => {
    const says = async (...args: string[]) => {
      const { code, stderr } = await run([...WORKER, "http://127.0.0.1:1", ...args]);
      return [code, stderr.trim()];
    };
    expect(await says()).toEqual([2, expect.stringContaining("--restate needs --store; the sessions must lie where")]);
    const [code, text] = await says("--store", "file:sessions.db");
    expect([code, text]).toEqual([2, expect.stringContaining('--store is "file:sessions.db"')]);
    const store = ["--store", "postgres://u:secret@127.0.0.1:1/d"];
    expect(await says(...store)).toEqual([2, expect.stringContaining("--restate needs --workspace; say where")]);
    expect(await says(...store, "--workspace", "here")).toEqual([2, expect.stringContaining('--workspace is "here"')]);
    const [failed, why] = await says(...store, "--workspace", "volume");
    expect([failed, why]).toEqual([1, expect.stringContaining("postgres://u:***@127.0.0.1:1/d cannot be used")]);
  });
});

const binary = restateBinary();
if (binary === undefined)
  console.log(`No Restate server for ${process.platform}-${process.arch}: no worker is started.`);

describe.skipIf(binary === undefined)("a worker", () => {
  let restate: Awaited<ReturnType<typeof startRestate>>;
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    [restate, postgres] = await Promise.all([startRestate(binary as string), startPostgres()]);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([restate?.stop(), postgres?.stop()]);
  });

  /** A worker of the program, over the tour, that asks `model`. */
  async function worker(home: string, model: ScriptedServer, ...args: string[]) {
    const env = {
      OPENAI_BASE_URL: `${model.url}/v1`,
      ANSWERME_MODEL: "openai:scripted",
      ANSWERME_STORE: postgres.url,
    };
    const options = [restate.ingress, "--restate-admin", restate.admin, "--root", tour, ...args];
    return new Program([...WORKER, ...options], { home, env });
  }

  async function listening(program: Program): Promise<string> {
    await program.says("\n", "stdout");
    return new URL(program.output.trim()).port;
  }

  async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it("answers with the program's tools; a question to a person outlives it", { timeout: 240_000 }, async () => {
    await using folder = await temporaryFolder();
    const question = { question: "Which port?", options: [{ label: "8080" }, { label: "9090" }] };
    const ask = { call: "ask_user", arguments: { questions: [question] } };
    const read = { call: "read", arguments: { path: "config.ini" } };
    const script = [[read], [read], "It is 8417.", [ask], [ask], "9090 it is."].map((answer) => ({ answer }));
    const model = await ScriptedServer.start(script);
    const place = ["--workspace", "worker:box"];
    const first = await worker(folder.path, model, ...place, "--port", "0");
    const port = await listening(first);
    const { ingress } = restate;

    const response = await fetch(`${ingress}/answerme.box/by-hand/turn`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt: "What is the port?" }),
    });
    expect(await response.json()).toMatchObject({ type: "complete", text: "It is 8417." });

    const client = durableClient({ name: "answerme", worker: "box" }, { ingress });
    const session = client.session("asked");
    const answer = session.ask("Set it up");
    const approvalId = await eventually(async () => (await session.pendingApprovals())[0]);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = await worker(folder.path, model, ...place, "--port", port);
    expect(await listening(second)).toBe(port);
    await session.approve(approvalId, { type: "allow", scope: "once", answer: ["9090"] });
    expect((await answer).text).toBe("9090 it is.");
    const records: SessionRecord[] = [];
    for await (const record of session.records()) records.push(record);
    expect(JSON.stringify(records.filter(({ type }) => type === "conversation"))).toContain("9090");

    second.child.kill("SIGTERM");
    const { code, stderr } = await second.ended;
    expect(stderr).toContain("Runs the sessions of answerme.box");
    expect(stderr).toContain('of the worker "box" alone');
    expect(code).toBe(0);
    await model.close();
  });

  it("is told at its start that it does not fit, and where nothing answers", { timeout: 240_000 }, async () => {
    await using folder = await temporaryFolder();
    const model = await ScriptedServer.start([]);
    const volume = ["--name", "fits", "--workspace", "volume", "--port", "0"];
    const first = await worker(folder.path, model, ...volume);
    await listening(first);
    const told = async (...args: string[]) => {
      const { code, stderr } = await (await worker(folder.path, model, ...volume, ...args)).ended;
      return [code, stderr];
    };
    expect(await told("--read-only")).toEqual([2, expect.stringContaining("give another --name, or")]);
    const other = await startPostgres();
    expect(await told("--store", other.url)).toEqual([2, expect.stringContaining("have another store")]);
    await other.stop();
    expect(await told("--restate-admin", restate.ingress)).toEqual([
      2,
      expect.stringContaining("its admin interface?"),
    ]);
    expect(await told("--restate-admin", "http://127.0.0.1:1")).toEqual([
      1,
      expect.stringContaining("Restate cannot be reached at http://127.0.0.1:1"),
    ]);
    const beside = await worker(folder.path, model, ...volume, "--read-only", "--release", "2");
    await listening(beside);
    for (const { child } of [first, beside]) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    await model.close();
  });
});
