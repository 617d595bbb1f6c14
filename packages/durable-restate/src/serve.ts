import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { AgenticError } from "@shedkit/types";
import type { DurableAgent } from "./durable.js";

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
  /** Registers it in place of what was at that address. Default: false: changed code at the same address is refused. */
  force?: boolean | undefined;
}

/** A process that runs agents' turns. */
export interface DurableWorker {
  readonly url: string;
  /** Stops listening. Running turns go on elsewhere. */
  close(): Promise<void>;
}

/**
 * Listens for Restate and registers the agents there.
 *
 * Throws AgenticError `session`: reason "restate unreachable", "registration failed", or "two definitions" where two
 * agents have one name.
 */
export async function serveDurable(agents: readonly DurableAgent[], options: ServeOptions): Promise<DurableWorker> {
  const names = agents.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new AgenticError(
      "session",
      `Two definitions have the name "${twice}": Restate would run one of them for both. Name them apart.`,
      {
        reason: "two definitions",
      },
    );
  }
  const { host = "127.0.0.1", port = 0, sharePort = false, streamsPerConnection = 128 } = options;
  const services = agents.flatMap((agent) => agent.services({ ingress: options.ingress }));
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
  await once(server, "listening");
  const url = options.url ?? `http://${host}:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    for (const session of sessions) session.destroy();
    await closed;
  };
  try {
    if (options.admin !== undefined) await register(options.admin, url, options.force ?? false);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, close };
}

async function register(admin: string, uri: string, force: boolean): Promise<void> {
  let response: Response;
  try {
    response = await fetch(new URL("/deployments", admin), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri, force }),
    });
  } catch (cause) {
    throw new AgenticError(
      "session",
      `Restate cannot be reached at ${admin}: ${cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : cause}. Check the address of its admin interface (port 9070 by default) and that the server runs.`,
      { reason: "restate unreachable" },
      { cause, retryable: true },
    );
  }
  const text = await response.text();
  if (response.ok) return;
  throw new AgenticError("session", `Restate did not take the worker at ${uri} (${response.status}): ${text}`, {
    reason: "registration failed",
  });
}
