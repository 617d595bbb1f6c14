import { type FileSystem, nameOf } from "@shedkit/fs";
import {
  ApplyWorkspaceEditRequest,
  CancellationTokenSource,
  type ClientCapabilities,
  ConfigurationRequest,
  createProtocolConnection,
  type Diagnostic,
  DidChangeConfigurationNotification,
  DidChangeTextDocumentNotification,
  DidChangeWatchedFilesNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentDiagnosticReportKind,
  DocumentDiagnosticRequest,
  ExitNotification,
  type FileChangeType,
  InitializedNotification,
  InitializeRequest,
  LSPErrorCodes,
  type ProtocolConnection,
  type ProtocolNotificationType,
  type ProtocolRequestType,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  ResponseError,
  type ServerCapabilities,
  ShowMessageRequest,
  ShutdownRequest,
  UnregistrationRequest,
  WorkDoneProgressCreateRequest,
  WorkspaceFoldersRequest,
} from "vscode-languageserver-protocol/node";
import { Beginning } from "./beginning.js";
import { environmentOf, type LanguageServer, type Settings } from "./config.js";
import { Documents } from "./documents.js";
import { Failure, ServerEnded, ServerSlow } from "./failure.js";
import { sameUri, uriOf } from "./paths.js";
import { ServerProcess } from "./process.js";
import { Reports } from "./reports.js";
import { within } from "./wait.js";

/** How long a server is waited for that may have more to say of a file for the sake of another one's change. */
const RETOLD_MS = 500;

/** A running server: from its start to its end. */
export class ServerSession {
  readonly documents: Documents;
  /** What the server says of files unasked. */
  readonly reports = new Reports();
  readonly name: string;
  readonly #fs: FileSystem;
  readonly #server: LanguageServer;
  readonly #settings: Settings;
  readonly #process: ServerProcess;
  readonly #connection: ProtocolConnection;
  /** How much had been said when a file was last shown as it is now, and when any was. */
  readonly #changedAt = new Map<string, number>();
  #lastChange = 0;
  readonly #beginning = new Beginning();
  #capabilities: ServerCapabilities = {};
  #ended: string | undefined;
  #closing = false;

  private constructor(fs: FileSystem, name: string, server: LanguageServer, settings: Settings) {
    this.name = name;
    this.#fs = fs;
    this.#server = server;
    this.#settings = settings;
    this.#process = new ServerProcess(server.command, server.args ?? [], fs.root, environmentOf(server, settings.env));
    this.#connection = createProtocolConnection(this.#process.output, this.#process.input);
    this.#connection.onError(() => this.#process.kill()); // it speaks something else
    this.#connection.onClose(() => this.#process.kill());
    this.#process.ended.then((how) => {
      this.#ended = how;
      this.#connection.dispose();
    });
    this.documents = new Documents(fs, server.languages, {
      open: (uri, languageId, version, text) => {
        this.#changes(uri);
        return this.#notify(DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId, version, text } });
      },
      change: (uri, version, text) => {
        this.#changes(uri);
        return this.#notify(DidChangeTextDocumentNotification.type, {
          textDocument: { uri, version },
          contentChanges: [{ text }],
        });
      },
      close: (uri) => {
        this.reports.forget(uri);
        this.#changedAt.delete(uri);
        return this.#notify(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
      },
    });
    this.#answer();
  }

  /** Starts a server and makes its acquaintance. Rejects with Failure, or with the reason of the signal. */
  static async start(
    fs: FileSystem,
    name: string,
    server: LanguageServer,
    settings: Settings,
    signal: AbortSignal,
  ): Promise<ServerSession> {
    const session = new ServerSession(fs, name, server, settings);
    try {
      const ended = session.#process.ended.then((how) => {
        throw new Failure("the server ended", `The language server "${name}" did not start: ${how}.`);
      });
      await within(Promise.race([session.#initialize(), ended]), settings.startTimeoutMs, signal, () => {
        const s = settings.startTimeoutMs / 1000;
        return new Failure("timeout", `The language server "${name}" did not start within ${s} s.`);
      });
      return session;
    } catch (error) {
      session.#process.kill();
      await session.#process.ended;
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get ended(): Promise<string> {
    return this.#process.ended;
  }

  can(capability: keyof ServerCapabilities): boolean {
    const value = this.#capabilities[capability];
    return value !== undefined && value !== false;
  }

  /** Asks the server. Rejects with Failure (ServerEnded where it went), or with the reason of the signal. */
  async ask<P extends object, R, PR, E, RO>(
    type: ProtocolRequestType<P, R, PR, E, RO>,
    params: P,
    signal: AbortSignal,
    ms = this.#settings.requestTimeoutMs,
  ): Promise<R> {
    await this.#beginning.over(this.#settings.startTimeoutMs, this.#process.ended, signal);
    const cancel = new CancellationTokenSource();
    try {
      const answer = this.#connection.sendRequest<R>(type.method, params, cancel.token);
      answer.catch(() => {}); // after its time nobody listens
      return await within(Promise.race([answer, this.#goes()]), ms, signal, () => {
        return new ServerSlow("timeout", `The language server "${this.name}" did not answer within ${ms / 1000} s.`);
      });
    } catch (error) {
      cancel.cancel();
      if (error instanceof Failure || signal.aborted) throw error;
      if (this.#ended !== undefined || !(error instanceof ResponseError)) throw await this.#goes().catch((e) => e);
      if (error.code === LSPErrorCodes.ContentModified || error.code === LSPErrorCodes.ServerCancelled) {
        throw new Failure("changed meanwhile", "The files changed while the language server looked. Ask again.");
      }
      throw new Failure("refused by the server", `The language server "${this.name}" says: ${error.message}`);
    }
  }

  /**
   * What is wrong with a file as it stands now. Undefined where the server did not say it within `ms`.
   */
  async diagnose(path: string, ms: number, signal: AbortSignal): Promise<readonly Diagnostic[] | undefined> {
    await this.documents.refresh(signal);
    const { uri } = await this.documents.show(path, signal);
    if (this.#capabilities.diagnosticProvider !== undefined) {
      return this.#pull(uri, ms, signal);
    }
    const own = this.#changedAt.get(uri) ?? 0;
    // Another file's change may tell of this one too, or not.
    const known = this.reports.after(uri, own) !== undefined;
    await this.reports.wait(uri, known ? this.#lastChange : own, known ? Math.min(ms, RETOLD_MS) : ms, signal);
    signal.throwIfAborted();
    return this.reports.after(uri, own);
  }

  async #pull(uri: string, ms: number, signal: AbortSignal): Promise<readonly Diagnostic[] | undefined> {
    try {
      const answer = await this.ask(DocumentDiagnosticRequest.type, { textDocument: { uri } }, signal, ms);
      return answer.kind === DocumentDiagnosticReportKind.Full ? answer.items : [];
    } catch (error) {
      if (error instanceof ServerSlow) return undefined;
      throw error;
    }
  }

  /** Tells the server of files that were made, changed or removed. */
  filesChanged(files: ReadonlyMap<string, FileChangeType>): Promise<void> {
    const changes = Array.from(files, ([path, type]) => ({ uri: uriOf(this.#fs, path), type }));
    return changes.length === 0 ? Promise.resolve() : this.#notify(DidChangeWatchedFilesNotification.type, { changes });
  }

  /** Asks the server to end, and kills what is left of it. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#ended === undefined) {
      const { graceMs } = this.#settings;
      const goodbye = async (): Promise<void> => {
        await Promise.race([this.#connection.sendRequest(ShutdownRequest.type), this.#process.ended]);
        if (this.#ended === undefined) await this.#connection.sendNotification(ExitNotification.type);
        await this.#process.ended;
      };
      await within(goodbye(), graceMs, new AbortController().signal, () => new Error("late")).catch(() => {});
      this.#process.kill();
    }
    await this.#process.ended;
  }

  #changes(uri: string): void {
    this.#lastChange = this.reports.count;
    this.#changedAt.set(uri, this.#lastChange);
  }

  async #initialize(): Promise<void> {
    const { initializationOptions, settings } = this.#server;
    const uri = uriOf(this.#fs, ".");
    this.#connection.listen();
    const { capabilities } = await this.#connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      clientInfo: { name: "shedkit" },
      rootPath: this.#fs.root,
      rootUri: uri,
      workspaceFolders: [{ uri, name: nameOf(this.#fs.root) }],
      capabilities: CAPABILITIES,
      ...(initializationOptions === undefined ? {} : { initializationOptions }),
    });
    this.#capabilities = capabilities;
    await this.#connection.sendNotification(InitializedNotification.type, {});
    if (settings !== undefined) {
      await this.#connection.sendNotification(DidChangeConfigurationNotification.type, { settings });
    }
  }

  /** What a server asks of its client. It may change nothing. */
  #answer(): void {
    const connection = this.#connection;
    const uri = uriOf(this.#fs, ".");
    connection.onNotification(PublishDiagnosticsNotification.type, (said) =>
      this.reports.receive(sameUri(said.uri), said.diagnostics),
    );
    connection.onNotification("$/progress", (said: { token: number | string; value: { kind?: string } }) =>
      this.#beginning.heard(said.token, said.value?.kind),
    );
    connection.onRequest(ConfigurationRequest.type, ({ items }) =>
      items.map(({ section }) => (section === undefined ? undefined : this.#server.settings?.[section]) ?? null),
    );
    connection.onRequest(WorkspaceFoldersRequest.type, () => [{ uri, name: nameOf(this.#fs.root) }]);
    connection.onRequest(ApplyWorkspaceEditRequest.type, () => ({ applied: false }));
    connection.onRequest(ShowMessageRequest.type, () => null);
    for (const type of [RegistrationRequest.type, UnregistrationRequest.type, WorkDoneProgressCreateRequest.type]) {
      connection.onRequest(type.method, () => null);
    }
  }

  async #notify<P extends object, RO>(type: ProtocolNotificationType<P, RO>, params: P): Promise<void> {
    if (this.#ended !== undefined || this.#closing) await this.#goes();
    const sent = Promise.race([this.#connection.sendNotification(type.method, params), this.#goes()]);
    const ms = this.#settings.requestTimeoutMs;
    await within(sent, ms, new AbortController().signal, () => {
      this.#process.kill(); // it does not even read
      return new ServerSlow("timeout", `The language server "${this.name}" has not listened for ${ms / 1000} s.`);
    });
  }

  /** Rejects when the server has ended. */
  async #goes(): Promise<never> {
    const how = await this.#process.ended;
    throw new ServerEnded("the server ended", `The language server "${this.name}" ended while it was asked: ${how}.`);
  }
}

const CAPABILITIES: ClientCapabilities = {
  general: { positionEncodings: ["utf-16"] },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    didChangeWatchedFiles: { dynamicRegistration: true },
    symbol: {},
  },
  textDocument: {
    synchronization: {},
    definition: { linkSupport: true },
    implementation: { linkSupport: true },
    references: {},
    hover: { contentFormat: ["markdown", "plaintext"] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    publishDiagnostics: {},
    diagnostic: {},
  },
  window: { workDoneProgress: true },
};
