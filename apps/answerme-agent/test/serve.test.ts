import { ScriptedServer } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { parseCommand } from "../src/args.js";
import { Program, run, temporaryFolder, tour } from "./program.js";

describe("serve", () => {
  it("serves the page, the sessions of the terminal, and clients of OpenAI, until it is told to end", async () => {
    await using folder = await temporaryFolder();
    const model = await ScriptedServer.start([
      { answer: "Hello." },
      { answer: "You said hi." },
      { answer: "From a client." },
    ]);
    const env = {
      OPENAI_BASE_URL: `${model.url}/v1`,
      ANSWERME_MODEL: "openai:scripted",
      ANSWERME_TOKEN: "a-token-of-the-test",
    };
    const home = folder.path;
    await run(["--root", tour, "Hi there"], { home, env });

    const program = new Program(["serve", "--port", "0", "--root", tour], { home, env });
    await program.says("token=a-token-of-the-test\n", "stdout");
    await program.says("Open this address in a browser");
    const url = new URL(program.output.trim());
    const page = await fetch(url, { redirect: "manual" });
    expect(page.status).toBe(303);
    const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(await (await fetch(url.origin, { headers: { cookie } })).text()).toContain("/page.js");

    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(url.origin + path, {
        method,
        headers: { authorization: "Bearer a-token-of-the-test", "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
    };
    const { body: list } = await call("GET", "/api/sessions");
    expect(list.items).toMatchObject([{ title: "Hi there", model: "scripted", label: tour }]);
    const id: string = list.items[0].id;
    expect((await call("PATCH", `/api/sessions/${id}`, { title: "Greetings" })).body.title).toBe("Greetings");
    expect((await call("POST", `/api/sessions/${id}/ask`, { text: "What did I say?" })).status).toBe(202);
    const events = await fetch(`${url.origin}/api/sessions/${id}/events`, { headers: { cookie } });
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of events.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.split('"type":"summary"').length === 3) break;
    }
    expect(text).toContain("You said hi.");

    const messages = [{ role: "user", content: "Hi" }];
    const { body: answer } = await call("POST", "/v1/chat/completions", { model: "scripted", messages });
    expect(answer.choices[0].message.content).toBe("From a client.");
    expect((await call("GET", "/api/sessions")).body.items).toHaveLength(1);

    program.child.kill("SIGTERM");
    const { code, stderr } = await program.ended;
    expect(stderr).toContain("Ending ...");
    expect(code).toBe(0);
    await model.close();
  });

  it("says what is wrong with its options", async () => {
    expect(parseCommand(["serve"])).toMatchObject({ type: "serve", host: "127.0.0.1", port: 4117 });
    expect(() => parseCommand(["serve", "--port", "70000"])).toThrow('--port is "70000"; give a number up to 65535');
    expect(() => parseCommand(["--port", "1", "Hi"])).toThrow("--port belongs to answerme-agent serve");
    const { code, stderr } = await run(["serve", "--port", "0"], { env: { ANSWERME_TOKEN: "short" } });
    expect([code, stderr]).toEqual([2, expect.stringContaining("ANSWERME_TOKEN must be at least 16")]);
  });

  it("is told where another program has its port", async () => {
    await using folder = await temporaryFolder();
    const model = await ScriptedServer.start([]);
    const port = new URL(model.url).port;
    const { code, stderr } = await run(["serve", "--port", port], { home: folder.path });
    await model.close();
    expect(stderr).toContain("another program has it; choose another port");
    expect(code).toBe(1);
  });
});
