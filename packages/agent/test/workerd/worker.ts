// A Worker that holds a session: every request builds it from D1 and R2, does one thing, and ends it.
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { ToolShed } from "@shedkit/shed";
import { KvMemoryStore } from "@shedkit/store";
import { type D1Binding, D1R2DocumentStore, D1Store, type R2Binding, R2Store } from "@shedkit/store-cloudflare";
import { filesTools } from "@shedkit/tools-files";
import { AgentSession, type SessionEvent } from "../../src/index.js";

interface Env {
  DB: D1Binding;
  BUCKET: R2Binding & { list(): Promise<{ objects: object[] }> };
  MODEL_URL: string;
}

/** What to do: `say` runs a turn until it ends or waits for leave; `approve` allows what waits and sees the turn out. */
export interface Work {
  session: string;
  files: { [path: string]: string };
  say?: string;
  approve?: true;
}

/** What came of it. */
export interface Outcome {
  events: SessionEvent[];
  files: { [path: string]: string };
  /** How many long records lie in R2. */
  inBucket: number;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    try {
      return Response.json(await work((await request.json()) as Work, env));
    } catch (error) {
      const { message, stack } = error as Error;
      return new Response(`${message}\n${stack}`, { status: 500 });
    }
  },
};

async function work({ session: id, files, say, approve }: Work, env: Env): Promise<Outcome> {
  refuseCodeFromStrings();
  const fs = new MemoryFileSystem(files);
  const d1 = D1Store.binding(env.DB);
  const documents = new D1R2DocumentStore(d1, R2Store.binding(env.BUCKET, { prefix: "agent/" }));
  const apiKey = new Secret("key");
  const session = await AgentSession.builder(
    AnthropicMessagesProvider.withConfig({ apiKey, baseUrl: env.MODEL_URL, fetch: (...args) => fetch(...args) }),
  )
    .withModel("claude-sonnet-4-6")
    .withDocStore(documents)
    .withMemoryStore(new KvMemoryStore(d1))
    .withSessionId(id)
    .withToolshed(new ToolShed().tools(filesTools(fs)))
    .withPermissions({ decide: async ({ capabilities }) => (capabilities.readOnly ? "allow" : "ask") })
    .build({ waitMs: 5000 });
  const events: SessionEvent[] = [];
  const followed = session.subscribe();
  if (say !== undefined) void session.runTurn(say);
  if (approve) {
    for (const approval of session.pendingApprovals()) {
      await session.approve(approval, { type: "allow", scope: "once" });
    }
  }
  for await (const event of followed) {
    events.push(event);
    if (event.type === "approvalRequested" && say !== undefined) break;
    if (event.type === "done" || event.type === "failed") break;
  }
  await session.end();
  await documents.close();
  const decoder = new TextDecoder();
  const left: Outcome["files"] = {};
  for (const path of new Set([...Object.keys(files), "notes.txt"])) {
    if (await fs.stat(path).catch(() => undefined)) left[path] = decoder.decode(await fs.readFile(path));
  }
  return { events, files: left, inBucket: (await env.BUCKET.list()).objects.length };
}

/** So that the test shows what it says. */
function refuseCodeFromStrings(): void {
  try {
    new Function("return 1");
  } catch {
    return;
  }
  throw new Error("this Worker may make code from strings, so nothing is shown here");
}
