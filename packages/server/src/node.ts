import { readFile } from "node:fs/promises";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { AgenticError } from "@shedkit/types";
import type { PageFiles } from "./options.js";
import type { AgentServer } from "./server.js";

/** Where to listen. */
export interface ListenOptions {
  /** Default: `127.0.0.1`, which only this machine reaches. */
  host?: string | undefined;
  /** Default: 0, which takes a free one. */
  port?: number | undefined;
}

/** A server that listens. */
export interface Listening {
  /** Such as `http://127.0.0.1:4170`. */
  readonly url: string;
  readonly port: number;
  /** Ends the sessions, then the connections. */
  close(): Promise<void>;
}

/** Listens on a port. Rejects with AgenticError `session` where the port is taken or not to be had. */
export async function listen(server: AgentServer, options: ListenOptions = {}): Promise<Listening> {
  const { host = "127.0.0.1", port = 0 } = options;
  const http = createAdaptorServer({ fetch: (request) => server.fetch(request), hostname: host }) as Server;
  const answers = new Set<ServerResponse>();
  http.on("request", (_, answer) => {
    answers.add(answer);
    answer.once("close", () => answers.delete(answer));
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(host, port, error)));
    http.listen(port, host, resolve);
  });
  const address = http.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${name}:${address.port}`,
    port: address.port,
    close: () => {
      closed ??= closeBoth(server, http, answers);
      return closed;
    },
  };
}

/** The page that comes with the package. Rejects with AgenticError `file` where it is not there. */
export async function loadPage(): Promise<PageFiles> {
  const read = (name: string) => readFile(new URL(`../dist/page/${name}`, import.meta.url), "utf8");
  try {
    const [html, script, style] = await Promise.all([read("page.html"), read("page.js"), read("page.css")]);
    return { html, script, style };
  } catch (cause) {
    const { path = "" } = cause as NodeJS.ErrnoException;
    throw new AgenticError(
      "file",
      `The page of @shedkit/server is not there: ${path}. Build or reinstall the package.`,
      {
        path,
        reason: "missing",
      },
    );
  }
}

/** How long a client may take over the last of an answer when the server closes, in milliseconds. */
const LAST_ANSWERS_MS = 2000;

/** Ends the sessions, then the connections: at once where no answer is on its way, for some never carried a request. */
async function closeBoth(server: AgentServer, http: Server, answers: ReadonlySet<ServerResponse>): Promise<void> {
  const gone = new Promise<void>((resolve) => http.close(() => resolve()));
  await server.close();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_ANSWERS_MS);
  });
  const sent = Promise.all([...answers].map((answer) => new Promise((resolve) => answer.once("close", resolve))));
  await Promise.race([sent, late]);
  clearTimeout(timer);
  http.closeAllConnections();
  await gone;
}

function cannotListen(host: string, port: number, error: NodeJS.ErrnoException): AgenticError {
  const why =
    error.code === "EADDRINUSE"
      ? "another program has it; choose another port"
      : error.code === "EACCES"
        ? "it is not allowed; choose a port above 1023"
        : error.message;
  return new AgenticError("session", `Cannot listen on ${host}:${port}: ${why}.`, { reason: "cannot listen" });
}
