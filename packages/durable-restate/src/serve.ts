import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import type { Models } from "@shedkit/agent/internals";
import { AgenticError } from "@shedkit/types";
import { Admin, checkIngress, type Told } from "./admin.js";
import { addressOf } from "./connection.js";
import { type DurableAgent, definitionOf } from "./durable.js";
import { type Enrolled, enrol } from "./enrol.js";
import type { LiveTurn } from "./live-turn.js";
import { modelsOf, servicesOf } from "./services.js";

/** How a worker is served, and where Restate is. */
export interface ServeOptions {
  /** Where Restate's ingress is, e.g. `http://127.0.0.1:8080`. */
  ingress: string;
  /** Where Restate's admin interface is, e.g. `http://127.0.0.1:9070`. Absent: the worker is registered by others. */
  admin?: string | undefined;
  /** Default: 127.0.0.1. */
  host?: string | undefined;
  /** Default: any that is free. */
  port?: number | undefined;
  /** Lets several workers of one machine listen on one port: the system spreads Restate's connections. Default: false. */
  sharePort?: boolean | undefined;
  /** How Restate reaches the worker, or the balancer before its workers. Default: `http://host:port`. */
  url?: string | undefined;
  /** How many invocations one connection may carry; more connections are made, and spread. Default: 128. */
  streamsPerConnection?: number | undefined;
  /** Registers it in place of what was at that address, and of a store that was another. Default: false: both refused. */
  force?: boolean | undefined;
}

/** A process that runs agents' turns. */
export interface DurableWorker {
  readonly url: string;
  /** Stops listening and lets go of running turns: they go on elsewhere. */
  close(): Promise<void>;
}

/** How long turns that are let go of may take to end here. */
const LONGEST_END_MS = 5000;

/** What a service tells Restate, beside what it is. */
const STORE = "shedkit.store";
const VERSION = "shedkit.version";

/**
 * Listens for Restate and registers the agents there.
 *
 * Throws AgenticError before anything of it stays:
 * - `session`, reason "bad address", "restate unreachable" or "registration failed";
 * - reason "two definitions": two agents have one name, or a worker that runs now has its name and version for another;
 * - reason "store not shared": Restate knows the agent by workers with another store;
 * - reason "changed code": at that address another version was registered;
 * - reason "port": it cannot be listened on;
 * - what is wrong with the sessions' parts, as `build` of their builder throws it.
 */
export async function serveDurable(agents: readonly DurableAgent[], options: ServeOptions): Promise<DurableWorker> {
  const names = agents.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new AgenticError(
      "session",
      `Two definitions have the name "${twice}": Restate would run one of them for both. Name them apart.`,
      { reason: "two definitions" },
    );
  }
  if (options.url !== undefined) addressOf(options.url, "way to the worker");
  const admin = options.admin === undefined ? undefined : new Admin(options.admin);
  await checkIngress(options.ingress);
  const enrolled: Enrolled[] = [];
  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const told = new Map<string, Told>();
    for (const agent of agents) {
      const known = await admin?.told(agent.name);
      const found = await enrol(definitionOf(agent));
      enrolled.push(found);
      undo.push(() => found.leave().catch(() => undefined)); // a store that is gone knows that the worker is
      const own = toldBy(agent, found);
      told.set(agent.name, own);
      if (known && !options.force) checkStore(agent.name, known, own);
    }
    const { url, stop } = await listen(agents, told, options);
    undo.push(stop);
    const registered = await admin?.register(url, options.force ?? false);
    for (const [name, own] of told) {
      const found = registered?.get(name);
      if (registered) checkRegistered(name, found, own, url);
    }
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(agents: readonly DurableAgent[], told: ReadonlyMap<string, Told>, options: ServeOptions) {
  const { host = "127.0.0.1", port = 0, sharePort = false, streamsPerConnection = 128, ingress } = options;
  const running = new Set<LiveTurn>();
  const loaded: Models[] = [];
  const services = agents.flatMap((agent) => {
    const definition = definitionOf(agent);
    const models = modelsOf(definition);
    loaded.push(models);
    return servicesOf(definition, { ingress, models, metadata: told.get(agent.name), running });
  });
  const server = createServer(
    { settings: { maxConcurrentStreams: streamsPerConnection } },
    createEndpointHandler({ services, bidirectional: true, logger: () => undefined }),
  );
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  server.listen({ host, port, ...(sharePort && { reusePort: true }) });
  await once(server, "listening").catch((cause: NodeJS.ErrnoException) => {
    throw cannotListen(cause, host, port);
  });
  const name = host.includes(":") ? `[${host}]` : host;
  const url = options.url ?? `http://${name}:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    const closed = once(server, "close");
    server.close();
    for (const session of sessions) session.destroy();
    await closed;
    // What they work with, programs above all, is let go of before this process may end.
    const ended = Promise.allSettled([...running].map((turn) => turn.abandon()));
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, LONGEST_END_MS).unref())]);
    await Promise.all(loaded.map((models) => models.release()));
  };
  return { url, stop };
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): AgenticError {
  const why = cause.code === "EADDRINUSE" ? "another program has it; choose another port" : cause.message;
  return new AgenticError(
    "session",
    `Port ${port} of ${host} cannot be listened on: ${why}.`,
    { reason: "port" },
    { cause },
  );
}

function toldBy(agent: DurableAgent, { storeId }: Enrolled): Told {
  const { version = "" } = definitionOf(agent);
  return { ...(storeId !== undefined && { [STORE]: storeId }), [VERSION]: version };
}

function checkStore(name: string, known: Told, own: Told): void {
  if (known[STORE] === undefined || own[STORE] === undefined || known[STORE] === own[STORE]) return;
  throw new AgenticError(
    "session",
    `The store of this worker is not the one of the agent "${name}": Restate knows the agent by workers with another store, and a session must find its log on all of them. Give every worker the same database; where the sessions have moved to this one, register with \`force\`.`,
    { reason: "store not shared" },
  );
}

function checkRegistered(name: string, found: Told | undefined, own: Told, url: string): void {
  if (found) checkStore(name, found, own);
  if (found && found[VERSION] === own[VERSION]) return;
  const what = found ? `the version "${found[VERSION] ?? ""}" of it` : "no such agent";
  throw new AgenticError(
    "session",
    `Restate knows the address ${url} by code that has ${what}; this is "${own[VERSION]}" of "${name}". Give changed code an address of its own, so that running turns end where they began, or register with \`force\`.`,
    { reason: "changed code" },
  );
}
