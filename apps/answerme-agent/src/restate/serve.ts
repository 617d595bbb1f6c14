import type { Workspace } from "@shedkit/durable-restate";
import { AgenticError } from "@shedkit/types";
import { policyOf } from "../approval.js";
import type { ServeCommand } from "../args.js";
import { ExitCode, UsageError } from "../exit.js";
import type { Interrupts } from "../interrupts.js";
import type { Renderer } from "../renderer.js";
import { ownFolder, settingsOf } from "../run-settings.js";
import { ServedModels } from "../serve-models.js";
import { agentOf, rootFolder } from "../session.js";
import type { Terminal } from "../terminal.js";
import { type RestateOptions, restateWanted } from "./options.js";

interface Surroundings {
  readonly terminal: Terminal;
  readonly renderer: Renderer;
  readonly interrupts: Interrupts;
  /** The program's. */
  readonly version: string;
}

/** What is wrong with what the person gave, not with a server. */
const USAGE: ReadonlySet<unknown> = new Set(["bad address", "registration failed", "not durable", "port"]);

/** Runs the turns of an agent's sessions for Restate until ctrl-C, or a signal to end. */
export async function serveRestate(
  command: ServeCommand,
  restate: RestateOptions,
  { terminal, renderer, interrupts, version }: Surroundings,
): Promise<ExitCode> {
  const { options, host, port } = command;
  const store = storeOf(restate.store, process.env.ANSWERME_STORE);
  const workspace = workspaceOf(restate.workspace);
  const root = await rootFolder(options.root);
  const settings = await settingsOf(options, root);
  if (options.noKeep) throw new UsageError("--no-keep does not go with --restate: the sessions lie in the store");
  const [{ durable, serveDurable }, { SqlDocumentStore, KvMemoryStore }, { PostgresStorage }] = await Promise.all([
    import("@shedkit/durable-restate"),
    import("@shedkit/store"),
    import("@shedkit/store-postgres"),
  ]);
  const models = new ServedModels(settings, process.env);
  const storage = await PostgresStorage.open(store).catch(failed(`the store at ${withoutPassword(store)}`));
  try {
    const permission = settings.permission.value;
    const builder = await agentOf({
      ...{ choice: models.first, settings, root },
      // What lies beside a person's own settings is on this machine alone.
      ownFolder: workspace.type === "worker" ? ownFolder() : undefined,
      policy: policyOf({ permission, permissions: settings.permissions.value, root, ownFolder: ownFolder() }, "ask"),
      readOnly: permission === "readOnly",
      background: workspace.type === "worker",
    });
    const agent = durable({
      ...{ name: restate.name, version: restate.release ?? version, workspace },
      agent: builder.withDocStore(new SqlDocumentStore(storage)).withMemoryStore(new KvMemoryStore(storage)),
    });
    const { ingress, admin, url, force } = restate;
    const worker = await serveDurable([agent], { ingress, admin, host, port, url, force }).catch(inWordsOfOptions);
    renderer.model(models.first.notice);
    const where = workspace.type === "volume" ? "as on every worker" : `of the worker "${workspace.worker}" alone`;
    renderer.notice(`Folder: ${root}, ${where}`);
    if (settings.mcpServers.value.length > 0) renderer.notice("MCP servers are not used by workers.");
    if (admin === undefined) {
      const body = JSON.stringify({ uri: worker.url });
      renderer.notice(
        `Register it, where that is not done: curl -X POST http://RESTATE:9070/deployments -H 'content-type: application/json' -d '${body}'`,
      );
    }
    renderer.notice(`Runs the sessions of ${agent.name} for ${ingress}. Ctrl-C ends it; others go on with its turns.`);
    terminal.out.write(`${worker.url}\n`);
    await ended(interrupts);
    renderer.notice("Ending ...");
    await worker.close();
    return ExitCode.answered;
  } finally {
    await models.close();
    await storage.close();
  }
}

function storeOf(given: string | undefined, fromEnv: string | undefined): string {
  const store = given ?? (fromEnv || undefined);
  if (store !== undefined && /^postgres(?:ql)?:\/\//.test(store) && URL.canParse(store)) return store;
  const what = store === undefined ? "--restate needs --store" : `--store is "${withoutPassword(store)}"`;
  const name = given === undefined && store !== undefined ? what.replace("--store", "ANSWERME_STORE") : what;
  throw new UsageError(
    `${name}; the sessions must lie where all workers find them: ${restateWanted.store} (or in ANSWERME_STORE)`,
  );
}

function workspaceOf(given: string | undefined): Workspace {
  if (given === "volume") return { type: "volume" };
  const [, worker] = /^worker:([A-Za-z0-9_-]+)$/.exec(given ?? "") ?? [];
  if (worker !== undefined) return { type: "worker", worker };
  const what = given === undefined ? "--restate needs --workspace" : `--workspace is "${given}"`;
  throw new UsageError(`${what}; ${restateWanted.workspace}`);
}

function withoutPassword(store: string): string {
  const url = URL.canParse(store) ? new URL(store) : undefined;
  if (!url?.password) return store;
  url.password = "***";
  return url.href;
}

function failed(what: string): (error: unknown) => never {
  return (error) => {
    const why = error instanceof Error ? error.message : String(error);
    throw AgenticError.is(error, "store")
      ? new AgenticError("store", `${what} cannot be used: ${why}`, error.details, { cause: error })
      : error;
  };
}

/** What a person can do about it, in words of the command line. */
function inWordsOfOptions(error: unknown): never {
  const reason = AgenticError.is(error, "session") ? error.details.reason : undefined;
  const say = (text: string) => {
    throw new UsageError(text, { cause: error });
  };
  if (reason === "two definitions") {
    say(
      `${(error as Error).message.split(". A session")[0]}. Start all workers of a name with the same model, tools and AGENTS.md; otherwise give another --name, or, where this is newer, another --release`,
    );
  }
  if (reason === "store not shared") {
    say(
      "--store: the workers that Restate knows under this name have another store, and a session must find its log on all of them; give all the same, another --name, or --force where the sessions have moved",
    );
  }
  if (reason === "changed code") {
    say(
      "another release was registered at this address; give this one another --port or --url, so that running turns end where they began, or --force",
    );
  }
  if (USAGE.has(reason)) say((error as Error).message);
  throw error;
}

/** Resolves at ctrl-C, or at a signal to end. A second ctrl-C ends the program at once. */
function ended(interrupts: Interrupts): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    void interrupts.during(resolve, () => new Promise<never>(() => undefined));
  });
}
