import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type HubFault, sendFile, sendJson, sendPage } from "./hub-answers.js";
import {
  answerFile,
  answerInfo,
  answerPaths,
  answerTree,
  isAllowed,
  notFound,
  type Route,
  routeOf,
} from "./hub-api.js";
import { type FakeRepository, type FakeRepositoryFiles, makeRepository } from "./hub-repository.js";

/** A request that a {@link FakeHub} got. */
export interface FakeHubRequest {
  method: string;
  /** `"info"` (which commit), `"tree"` (listing), `"paths"`, `"resolve"` (where a file is), `"cdn"` (its bytes). */
  kind: Route["kind"] | "cdn" | "other";
  /** With its query. */
  url: string;
  headers: IncomingMessage["headers"];
  /** `[first, last]` of a Range header. */
  range?: readonly [number, number] | undefined;
}

/** What goes wrong with a request; undefined: nothing. */
export type HubFaults = (request: FakeHubRequest) => HubFault | undefined;

/** How a fake hub behaves. */
export interface FakeHubOptions {
  /** Asked at each request. Default: nothing goes wrong. */
  fault?: HubFaults | undefined;
  /** The tokens that are valid. Default: none. */
  tokens?: readonly string[] | undefined;
  /** Entries of a listing's page. Default: 1,000. */
  pageSize?: number | undefined;
}

/** Of a repository. */
export interface FakeModelOptions {
  /** Its terms have to be accepted: only `allowedTokens` get files. */
  gated?: boolean | undefined;
  /** Hidden from all but `allowedTokens`. */
  private?: boolean | undefined;
  allowedTokens?: readonly string[] | undefined;
  /** The branch. Default: `main`. */
  revision?: string | undefined;
}

/**
 * A Hugging Face hub on loopback, for tests of what downloads models: it lists repositories, redirects to a second
 * server (another origin, as the real one's CDN is) and serves ranges there, with the headers of the real one.
 *
 * ```ts
 * await using hub = await FakeHub.start();
 * hub.addModel("acme/Tiny-GGUF", { "Tiny-Q4_K_M.gguf": tinyGguf() });
 * // give `hub.url` to a program as HF_ENDPOINT
 * ```
 */
export class FakeHub implements AsyncDisposable {
  /** What goes into `HF_ENDPOINT`. */
  readonly url: string;
  /** Where the bytes come from. */
  readonly cdnUrl: string;
  /** Every request so far, in order. */
  readonly requests: FakeHubRequest[] = [];
  /** May be changed at any time. */
  fault: HubFaults | undefined;
  readonly #repositories = new Map<string, FakeRepository>();
  readonly #servers: readonly Server[];
  readonly #options: FakeHubOptions;
  #bytesSent = 0;

  private constructor(api: Server, cdn: Server, options: FakeHubOptions) {
    this.url = urlOf(api);
    this.cdnUrl = urlOf(cdn);
    this.fault = options.fault;
    this.#options = options;
    this.#servers = [api, cdn];
    api.on("request", (request, response) => void this.#answer(request, response));
    cdn.on("request", (request, response) => void this.#answerFromCdn(request, response));
  }

  /** Starts on free ports. */
  static async start(options: FakeHubOptions = {}): Promise<FakeHub> {
    return new FakeHub(await listening(), await listening(), options);
  }

  /** Bytes of files sent so far. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  /** Adds a repository, or a commit on top of what it has. */
  addModel(name: string, files: FakeRepositoryFiles, options: FakeModelOptions = {}): FakeRepository {
    const key = name.toLowerCase();
    const repository = this.#repositories.get(key) ?? makeRepository(name, options);
    this.#repositories.set(key, repository);
    repository.addCommit(files, options.revision ?? "main");
    return repository;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeAllConnections();
        return closed;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #note(request: IncomingMessage, kind: FakeHubRequest["kind"]): HubFault | undefined {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const noted: FakeHubRequest = {
      method: request.method ?? "GET",
      kind,
      url: request.url ?? "",
      headers: request.headers,
      ...(first === undefined ? {} : { range: [Number(first), Number(last)] as const }),
    };
    this.requests.push(noted);
    return this.fault?.(noted);
  }

  readonly #sent = (bytes: number): void => {
    this.#bytesSent += bytes;
  };

  #answerFromCdn(request: IncomingMessage, response: ServerResponse): unknown {
    const fault = this.#note(request, "cdn");
    const key = (request.url ?? "").slice(1);
    const file = [...this.#repositories.values()].flatMap((one) => one.allFiles()).find((one) => one.cdnKey === key);
    return file ? sendFile(request, response, file, fault, this.#sent) : response.writeHead(404).end();
  }

  #answer(request: IncomingMessage, response: ServerResponse): unknown {
    const url = new URL(request.url ?? "/", this.url);
    const route = routeOf(url.pathname);
    const fault = this.#note(request, route?.kind ?? "other");
    if (fault?.type === "status") return response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? "");
    if (fault?.type === "html") return sendPage(response);
    if (fault?.type === "stall") return undefined;
    if (fault?.type === "cut") return request.socket.destroy();
    if (!route) return notFound(response, "RepoNotFound", "Repository not found");
    const token = request.headers.authorization?.replace(/^Bearer /, "");
    if (token !== undefined && !(this.#options.tokens ?? []).includes(token)) {
      return sendJson(response, 401, { error: "Invalid credentials in Authorization header" });
    }
    const repository = this.#repositories.get(route.repo.toLowerCase());
    if (!repository || (repository.options.private && !isAllowed(repository, token))) {
      if (token !== undefined) return notFound(response, "RepoNotFound", "Repository not found");
      // The real one does not tell strangers whether a repository exists.
      const error = "Invalid username or password.";
      return sendJson(response, 401, { error }, { "X-Error-Code": "RepoNotFound" });
    }
    if (repository.name !== route.repo) {
      return response
        .writeHead(307, { Location: url.pathname.replace(route.repo, repository.name) + url.search })
        .end();
    }
    const commit = repository.commit(route.revision);
    if (!commit) return notFound(response, "RevisionNotFound", `Invalid rev id: ${route.revision}`);
    const { url: hubUrl, cdnUrl } = this;
    const pageSize = this.#options.pageSize ?? 1000;
    const context = { request, response, url, route, repository, commit, token, hubUrl, cdnUrl, pageSize };
    if (route.kind === "info") return answerInfo(context);
    if (route.kind === "tree") return answerTree(context);
    return route.kind === "paths" ? answerPaths(context) : answerFile(context, fault, this.#sent);
  }
}

async function listening(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
