import { createRequire } from "node:module";
import process from "node:process";
import { expect, test } from "vitest";
import { call, connect, textOf } from "./helpers.js";

const require = createRequire(import.meta.url);
const EVERYTHING = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
const everything = { command: process.execPath, args: [EVERYTHING, "stdio"] };

test("the official example server: its tools are found, called, and their pictures, links and structure come through", async () => {
  const { manager, servers, events } = await connect({ everything });
  expect(servers.status()[0]).toMatchObject({ name: "everything", state: "ready", held: [] });
  expect((await manager.searchTools("add two numbers"))[0]?.name).toBe("everything__get-sum");

  expect(textOf(await call(manager, "everything__get-sum", { a: 2, b: 3 }))).toContain("5");
  const picture = await call(manager, "everything__get-tiny-image");
  expect(picture.content).toContainEqual(expect.objectContaining({ type: "image", mediaType: "image/png" }));
  const weather = await call(manager, "everything__get-structured-content", { location: "Chicago" });
  expect(weather.result?.output).toHaveProperty("temperature");
  expect(weather.content).toHaveLength(1); // the same as text, and not twice
  expect(textOf(await call(manager, "everything__get-resource-links", { count: 2 }))).toContain("demo://resource/");
  expect(textOf(await call(manager, "everything__get-resource-reference", {}))).toContain("plaintext resource");

  const listed = textOf(await call(manager, "everything__resources"));
  const uri = /demo:\/\/resource\/static\S+?(?=: )/.exec(listed)?.[0];
  expect(textOf(await call(manager, "everything__resources", { uri: uri ?? "" })).length).toBeGreaterThan(100);
  expect(events.filter(({ type }) => type === "problem")).toEqual([]);
});

test("the official example server: a long call shows its progress", async () => {
  const { manager } = await connect({ everything });
  const seen: (string | undefined)[] = [];
  const request = {
    id: "1",
    name: "everything__trigger-long-running-operation",
    arguments: { duration: 0.2, steps: 4 },
  };
  for await (const outcome of manager.runCalls([request], { progress: (_, { text }) => void seen.push(text) }))
    expect(outcome.errorDetail).toBeUndefined();
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.every((text) => /^\d\/4$/.test(text ?? ""))).toBe(true);
});

test("the official example server: its prompts are for the user", async () => {
  const { servers, manager } = await connect({ everything });
  const prompts = await servers.prompts("everything");
  expect(prompts.map(({ name }) => name)).toContain("args-prompt");
  const [message] = await servers.prompt("everything", "args-prompt", { city: "Kyoto" });
  expect(message).toMatchObject({ role: "user", content: [{ type: "text", text: expect.stringContaining("Kyoto") }] });
  expect(manager.names().some((name) => name.includes("prompt"))).toBe(false);
});
