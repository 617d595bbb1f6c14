import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type HubFault, sendFile, sendJson, sendPage } from "./hub-answers.js";
import { answerFile, answerInfo, answerPaths, answerTree, isAllowed, notFound, routeOf } from "./hub-api.js";
import { type FakeRepository, type FakeRepositoryFiles, makeRepository } from "./hub-repository.js";

/** A request that a {@link FakeHub} got. */
export interface FakeHubRequest {
  method: string;
  /** `"info"` (which commit), `"tree"` (listing), `"paths"`, `"resolve"` (where a file is), `"cdn"` (its bytes). */
  kind: "info" | "tree" | "paths" | "resolve" | "cdn" | "other";
  /** With its query. */
  url: string;
  headers: IncomingMessage["headers"];
  /** `[first, last]` of a Range header. */
  range?: readonly [number, number] | undefined;
}

/** How a {@link FakeHub} is set up. */
export interface FakeHubOptions {
  /** Asked at each request; what it returns goes wrong. */
  fault?: ((request: FakeHubRequest) => HubFault | undefined) | undefined;
  /** The tokens that are valid. Default: none. */
  tokens?: readonly string[] | undefined;
  /** Entries of a listing's page. Default: 1000. */
  pageSize?: number | undefined;
}

/**
 * A Hugging Face hub on loopback, for tests of what downloads models: it lists repositories, redirects to a second
 * server (another origin, as the real one's CDN is) and serves ranges there, with the headers of the real one.
 */
export interface FakeHub extends AsyncDisposable {
  /** What goes into `HF_ENDPOINT`. */
  readonly url: string;
  /** Where the bytes come from. */
  readonly cdnUrl: string;
  /** Every request so far, in order. */
  readonly requests: readonly FakeHubRequest[];
  /** Bytes of files sent so far. */
  readonly bytesSent: number;
  /** May be changed at any time. */
  fault: ((request: FakeHubRequest) => HubFault | undefined) | undefined;
  /** Adds a repository, or a commit on top of what it has. */
  addModel(name: string, files: FakeRepositoryFiles, options?: FakeModelOptions): FakeRepository;
  close(): Promise<void>;
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

/** Starts a {@link FakeHub} on free ports. */
export async function startFakeHub(options: FakeHubOptions = {}): Promise<FakeHub> {
  const repositories = new Map<string, FakeRepository>();
  const requests: FakeHubRequest[] = [];
  const pageSize = options.pageSize ?? 1000;
  let bytesSent = 0;

  const note = (request: IncomingMessage, kind: FakeHubRequest["kind"]) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const noted: FakeHubRequest = {
      method: request.method ?? "GET",
      kind,
      url: request.url ?? "",
      headers: request.headers,
      ...(first === undefined ? {} : { range: [Number(first), Number(last)] as const }),
    };
    requests.push(noted);
    return hub.fault?.(noted);
  };

  const sent = (bytes: number) => {
    bytesSent += bytes;
  };

  const cdn = createServer((request, response) => {
    const fault = note(request, "cdn");
    const key = (request.url ?? "").slice(1);
    const file = [...repositories.values()].flatMap((one) => one.allFiles()).find((one) => one.cdnKey === key);
    if (file) sendFile(request, response, file, fault, sent);
    else response.writeHead(404).end();
  });

  const answer = (request: IncomingMessage, response: ServerResponse): unknown => {
    const url = new URL(request.url ?? "/", "http://hub");
    const route = routeOf(url.pathname);
    const fault = note(request, route?.kind ?? "other");
    if (fault?.type === "status") return response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? "");
    if (fault?.type === "html") return sendPage(response);
    if (fault?.type === "stall") return undefined;
    if (fault?.type === "cut") return request.socket.destroy();
    if (!route) return notFound(response, "RepoNotFound", "Repository not found");
    const token = request.headers.authorization?.replace(/^Bearer /, "");
    if (token !== undefined && !(options.tokens ?? []).includes(token)) {
      return sendJson(response, 401, { error: "Invalid credentials in Authorization header" });
    }
    const repository = repositories.get(route.repo.toLowerCase());
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
    const { url: hubUrl, cdnUrl } = hub;
    const context = { request, response, url, route, repository, commit, token, hubUrl, cdnUrl, pageSize };
    if (route.kind === "info") return answerInfo(context);
    if (route.kind === "tree") return answerTree(context);
    return route.kind === "paths" ? answerPaths(context) : answerFile(context, fault, sent);
  };
  const api = createServer((request, response) => void answer(request, response));

  const hub: FakeHub = {
    url: await listen(api),
    cdnUrl: await listen(cdn),
    requests,
    get bytesSent() {
      return bytesSent;
    },
    fault: options.fault,
    addModel(name, files, modelOptions = {}) {
      const key = name.toLowerCase();
      const repository = repositories.get(key) ?? makeRepository(name, modelOptions);
      repositories.set(key, repository);
      repository.addCommit(files, modelOptions.revision ?? "main");
      return repository;
    },
    async close() {
      await Promise.all([api, cdn].map(stop));
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
  return hub;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
