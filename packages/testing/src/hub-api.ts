import type { IncomingMessage, ServerResponse } from "node:http";
import { type HubFault, sendFile, sendJson } from "./hub-answers.js";
import type { FakeRepository, HubFileEntry } from "./hub-repository.js";

/** What is asked of the hub. */
export interface Route {
  kind: "info" | "tree" | "paths" | "resolve";
  repo: string;
  revision: string;
  path: string;
}

/** A request for a repository that exists, at a revision that exists. */
export interface Context {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  route: Route;
  repository: FakeRepository;
  commit: { id: string; files: ReadonlyMap<string, HubFileEntry> };
  token: string | undefined;
  hubUrl: string;
  cdnUrl: string;
  pageSize: number;
}

/** What an address of the hub stands for. */
export function routeOf(pathname: string): Route | undefined {
  const api = /^\/api\/models\/([^/]+\/[^/]+)(?:\/(revision|tree|paths-info)\/([^/]+))?\/?$/.exec(pathname);
  if (api) {
    const kind = api[2] === "tree" ? "tree" : api[2] === "paths-info" ? "paths" : "info";
    return { kind, repo: api[1] ?? "", revision: decodeURIComponent(api[3] ?? "main"), path: "" };
  }
  const file = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(pathname);
  if (!file) return undefined;
  const [, repo = "", revision = "", path = ""] = file;
  return { kind: "resolve", repo, revision: decodeURIComponent(revision), path: decodeURIComponent(path) };
}

/** Which commit a revision is. */
export function answerInfo({ response, repository, commit }: Context): ServerResponse {
  return sendJson(response, 200, {
    _id: "0123456789abcdef01234567",
    id: repository.name,
    sha: commit.id,
    private: repository.options.private ?? false,
    gated: repository.options.gated ? "manual" : false,
    downloads: 1,
    likes: 1,
    lastModified: "2026-01-01T00:00:00.000Z",
    siblings: [...commit.files.keys()].map((rfilename) => ({ rfilename })),
  });
}

/** The files of a commit, a page at a time. */
export function answerTree({ response, url, commit, pageSize, hubUrl }: Context): ServerResponse {
  const from = Number(url.searchParams.get("cursor") ?? 0);
  const entries = [...commit.files.values()].map((file) => file.entry);
  const folders = new Set(entries.map(({ path }) => path.split("/").slice(0, -1).join("/")).filter(Boolean));
  const all = [...[...folders].map((path) => ({ type: "directory", path, oid: "0".repeat(40), size: 0 })), ...entries];
  const next = new URL(url.pathname + url.search, hubUrl);
  next.searchParams.set("cursor", String(from + pageSize));
  const more = from + pageSize < all.length ? { Link: `<${next.href}>; rel="next"` } : {};
  return sendJson(response, 200, all.slice(from, from + pageSize), more);
}

/** What is known of the paths in the request. */
export async function answerPaths({ request, response, commit }: Context): Promise<ServerResponse> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const { paths = [] } = JSON.parse(body) as { paths?: string[] };
  return sendJson(
    response,
    200,
    paths.flatMap((path) => {
      const file = commit.files.get(path);
      const lastCommit = { id: commit.id, title: "Upload", date: "2026-01-01T00:00:00.000Z" };
      return file ? [{ ...file.entry, lastCommit }] : [];
    }),
  );
}

/** A file, or where it is. */
export function answerFile(
  context: Context,
  fault: HubFault | undefined,
  sent: (bytes: number) => void,
): ServerResponse {
  const { request, response, route, repository, commit, token, cdnUrl } = context;
  if (repository.options.gated && !isAllowed(repository, token)) {
    const status = token === undefined ? 401 : 403;
    const error = `Access to model ${repository.name} is restricted. You must have access to it and be authenticated.`;
    return sendJson(response, status, { error }, { "X-Error-Code": "GatedRepo" });
  }
  const file = commit.files.get(route.path);
  if (!file) return notFound(response, "EntryNotFound", "Entry not found");
  const linked = {
    "X-Repo-Commit": commit.id,
    "X-Linked-Size": String(file.bytes),
    "X-Linked-ETag": `"${file.etag}"`,
    "Accept-Ranges": "bytes",
  };
  if (file.storage === "git") {
    for (const [name, value] of Object.entries(linked)) response.setHeader(name, value);
    return sendFile(request, response, file, fault, sent);
  }
  if (file.storage === "xet" && /xet-fileinfo/.test(request.headers.accept ?? "")) {
    const auth = `<http://127.0.0.1:1/token>; rel="xet-auth"`;
    const reconstruction = `<http://127.0.0.1:1/reconstruction>; rel="xet-reconstruction-info"`;
    const headers = { ...linked, "X-Xet-Hash": file.cdnKey, Link: `${auth}, ${reconstruction}` };
    return sendJson(
      response,
      200,
      { hash: file.cdnKey },
      { ...headers, "Content-Type": "application/vnd.xet-fileinfo+json" },
    );
  }
  return response.writeHead(302, { ...linked, Location: `${cdnUrl}/${file.cdnKey}` }).end();
}

/** Whether a token opens a repository that is not open to all. */
export function isAllowed(repository: FakeRepository, token: string | undefined): boolean {
  return token !== undefined && (repository.options.allowedTokens ?? []).includes(token);
}

/** Nothing of that name, with the code that says what kind of thing is missing. */
export function notFound(response: ServerResponse, code: string, error: string): ServerResponse {
  return sendJson(response, 404, { error }, { "X-Error-Code": code, "X-Error-Message": error });
}
