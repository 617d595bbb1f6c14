import type { Transport } from "@modelcontextprotocol/server";
import type { ToolCallManager, ToolShed } from "@shedkit/shed";
import { partsAlone } from "@shedkit/tool";
import { newSessionId } from "@shedkit/types";
import { serverFor } from "./client.js";
import { HttpClients } from "./http.js";
import type { ServeHttpOptions, ServeShedOptions } from "./options.js";

/** A shed that MCP clients can use. Each gets tools of its own: what one activates, no other sees. */
export interface ServedShed {
  /** Serves one client over a transport; resolves when it is ready. Throws ToolShedError where the shed cannot be built. */
  connect(transport: Transport): Promise<void>;
  /** Answers HTTP requests (streamable HTTP) of any number of clients, on any runtime with web requests. */
  http(options?: ServeHttpOptions): (request: Request) => Promise<Response>;
  /** Ends all clients; their calls are cancelled. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes an MCP server of a shed. */
export function serveShed(shed: ToolShed, options: ServeShedOptions = {}): ServedShed {
  const clients = new Set<() => Promise<void>>();
  const handlers: HttpClients[] = [];
  const connect = async (transport: Transport): Promise<void> => {
    const session = newSessionId();
    const manager = await shed.build((await options.parts?.(session)) ?? partsAlone(session));
    const server = serverFor(manager, options);
    const end = async (): Promise<void> => {
      if (!clients.delete(end)) return;
      await server.close().catch(() => {});
      await release(manager);
    };
    server.onclose = () => void end();
    clients.add(end);
    try {
      await server.connect(transport);
    } catch (fault) {
      await end();
      throw fault;
    }
  };
  const close = async (): Promise<void> => {
    for (const each of handlers) each.close();
    await Promise.all(Array.from(clients, (end) => end()));
  };
  return {
    connect,
    http: (settings = {}) => {
      const handler = new HttpClients(connect, settings);
      handlers.push(handler);
      return (request) => handler.answer(request);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function release(manager: ToolCallManager): Promise<void> {
  try {
    await manager.close();
  } catch {
    // The client is gone; there is nobody to tell.
  }
}
