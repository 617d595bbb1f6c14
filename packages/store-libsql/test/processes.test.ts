import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SqlDocumentStore } from "@shedkit/store";
import { checkAfterKill } from "@shedkit/store/conformance";
import { AgenticError, type SessionId } from "@shedkit/types";
import { expect, it, onTestFinished } from "vitest";
import { LibsqlStorage } from "../src/index.js";
import { tempFolder } from "./support/temp-folder.js";

const preload = fileURLToPath(new URL("../../../vitest.sources.mjs", import.meta.url));
const program = fileURLToPath(new URL("./support/writer.ts", import.meta.url));
const session = "s" as SessionId;

it.each([1, 7])("what a process appended before it was killed is there, and the session is free at once", async (n) => {
  const url = `file:${join(await tempFolder(), "a.db")}`;
  const flags = ["--import", preload, "--conditions=@shedkit/source", "--no-warnings"];
  const child = spawn(process.execPath, [...flags, program, url, session], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "close");
  let heard = 0;
  const storage = await LibsqlStorage.open(url);
  const store = new SqlDocumentStore(storage);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "ready") {
      await expect(store.acquire(session)).rejects.toSatisfy((error) => AgenticError.is(error, "sessionBusy"));
    } else heard = Number(line);
    if (heard === n) child.kill("SIGKILL"); // and read on: what it had said before it died counts
  }
  await ended;
  expect(heard).toBeGreaterThanOrEqual(n);
  await checkAfterKill(store, session, heard, 0);
  await storage.close();
});
