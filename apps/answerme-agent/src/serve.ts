import { stat } from "node:fs/promises";
import { homedir, hostname, networkInterfaces } from "node:os";
import { createServer, newToken, type OpenRequest, type ServerOptions } from "@shedkit/server";
import { listen, loadPage } from "@shedkit/server/node";
import { MemoryDocumentStore } from "@shedkit/store";
import type { SessionId } from "@shedkit/types";
import { policyOf } from "./approval.js";
import type { ServeCommand } from "./args.js";
import { shelfFile } from "./data-folder.js";
import { ExitCode, UsageError } from "./exit.js";
import type { Interrupts } from "./interrupts.js";
import { mcpFor } from "./mcp-setup.js";
import type { Renderer } from "./renderer.js";
import { ownFolder, settingsOf } from "./run-settings.js";
import { ServedModels } from "./serve-models.js";
import { openSession, rootFolder } from "./session.js";
import { Shelf } from "./shelf.js";
import type { Terminal } from "./terminal.js";

const SHORTEST_TOKEN = 16;

interface Surroundings {
  readonly terminal: Terminal;
  readonly renderer: Renderer;
  readonly interrupts: Interrupts;
}

/** Serves the sessions until ctrl-C, or a signal to end. */
export async function serve(
  command: ServeCommand,
  { terminal, renderer, interrupts }: Surroundings,
): Promise<ExitCode> {
  const { options, host, port } = command;
  const root = await rootFolder(options.root);
  const settings = await settingsOf(options, root);
  const models = new ServedModels(settings, process.env);
  const token = tokenOf(process.env.ANSWERME_TOKEN);
  const shelf = settings.keepSessions.value ? await Shelf.open(shelfFile(process.env, homedir())) : undefined;
  const permission = settings.permission.value;
  const mcp = await mcpFor(settings, { root, permission, notes: shelf?.notes });
  try {
    const server = createServer({
      ...kept(shelf),
      models: models.names.map((id) => ({ id })),
      token,
      page: await loadPage(),
      hosts: hostsOf(host),
      open: async ({ docStore, sessionId, model }: OpenRequest) => {
        const isKept = docStore === shelf?.docStore;
        const choice = models.choice(model);
        const folder = (isKept ? await rootOf(shelf, sessionId) : undefined) ?? root;
        const session = await openSession({
          choice,
          settings,
          root: folder,
          ownFolder: ownFolder(),
          policy: policyOf(
            { permission, permissions: settings.permissions.value, root: folder, ownFolder: ownFolder() },
            "ask",
          ),
          readOnly: permission === "readOnly",
          place: { docStore, sessionId, memoryStore: isKept ? shelf.memoryStore : undefined },
        });
        if (choice.groups === undefined) await mcp?.serve(session);
        if (isKept && (await shelf.rootOf(sessionId)) === undefined) await shelf.place(sessionId, root);
        return session;
      },
    });
    const listening = await listen(server, { host, port });
    renderer.model(models.first.notice);
    renderer.notice(`Folder: ${root}`);
    if (!isLoopback(host)) {
      renderer.notice(
        `Who reaches ${host}:${listening.port} and has the token can do what you can. It is not encrypted.`,
      );
    }
    renderer.notice("Open this address in a browser. Ctrl-C ends the program.");
    terminal.out.write(`${addressOf(host, listening.url, listening.port)}/?token=${token}\n`);
    await interrupted(interrupts);
    renderer.notice("Ending ...");
    await listening.close();
    return ExitCode.answered;
  } finally {
    await mcp?.close();
    await models.close();
    await shelf?.close();
  }
}

/** Where the sessions are, and what is known of them. */
function kept(shelf: Shelf | undefined): Pick<ServerOptions, "docStore" | "notes" | "label" | "lists" | "remove"> {
  if (shelf === undefined) return { docStore: new MemoryDocumentStore() };
  return {
    docStore: shelf.docStore,
    notes: shelf.notes,
    label: async (id) => shortened(await shelf.rootOf(id)),
    lists: async (id) => (await shelf.rootOf(id)) !== undefined,
    remove: async (id) => {
      await shelf.delete(id);
      return true;
    },
  };
}

/** The folder that a session was about, as long as it is there. */
async function rootOf(shelf: Shelf, session: SessionId): Promise<string | undefined> {
  const root = await shelf.rootOf(session);
  if (root === undefined) return undefined;
  const isFolder = await stat(root).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? root : undefined;
}

function tokenOf(given: string | undefined): string {
  if (given === undefined || given === "") return newToken();
  if (given.length >= SHORTEST_TOKEN && /^[\w.~-]+$/.test(given)) return given;
  throw new UsageError(
    `ANSWERME_TOKEN must be at least ${SHORTEST_TOKEN} letters, digits, "-", "_", "." or "~"; leave it out for a new one`,
  );
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host);
}

/** The names by which a server on all addresses may be called, beside those of the loopback. */
function hostsOf(host: string): string[] {
  if (isLoopback(host)) return [];
  if (host !== "0.0.0.0" && host !== "::") return [host.includes(":") ? `[${host}]` : host];
  const addresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const names = addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address));
  return [hostname(), `${hostname()}.local`, ...names];
}

/** An address that a browser on this machine can open. */
function addressOf(host: string, url: string, port: number): string {
  return host === "0.0.0.0" || host === "::" ? `http://localhost:${port}` : url;
}

function shortened(root: string | undefined): string | undefined {
  const home = homedir();
  return root?.startsWith(home) ? `~${root.slice(home.length)}` : root;
}

/** Resolves at ctrl-C, or at a signal to end. A second ctrl-C ends the program at once. */
function interrupted(interrupts: Interrupts): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    void interrupts.during(resolve, () => new Promise<never>(() => undefined));
  });
}
