import { type FileSystem, isFsError } from "@shedkit/fs";
import {
  DefinitionRequest,
  type DocumentSymbol,
  DocumentSymbolRequest,
  HoverRequest,
  ImplementationRequest,
  type Location,
  type LocationLink,
  ReferencesRequest,
  type SymbolInformation,
  WorkspaceSymbolRequest,
} from "vscode-languageserver-protocol/node";
import { Failure } from "./failure.js";
import { isInside, pathOf } from "./paths.js";
import { linesOf, type Place } from "./position.js";
import { hoverText, kindName, short } from "./render.js";
import type { ServerSession } from "./session.js";

/** A place in a file. */
export interface Found {
  /** Relative to the root; absolute outside it. */
  path: string;
  /** From 1. */
  line: number;
  /** The line, or the kind and name of a symbol. */
  text: string;
}

/** Where a symbol is defined, implemented or used, in the order of the server, each line once. */
export async function locations(
  fs: FileSystem,
  server: ServerSession,
  operation: "definition" | "implementation" | "references",
  at: { uri: string; place: Place },
  signal: AbortSignal,
): Promise<Found[]> {
  need(server, operation);
  const where = { textDocument: { uri: at.uri }, position: at.place };
  const answer =
    operation === "references"
      ? await server.ask(ReferencesRequest.type, { ...where, context: { includeDeclaration: true } }, signal)
      : await server.ask(
          operation === "definition" ? DefinitionRequest.type : ImplementationRequest.type,
          where,
          signal,
        );
  const all: readonly (Location | LocationLink)[] = answer === null ? [] : Array.isArray(answer) ? answer : [answer];
  const places = new Map<string, { path: string; line: number }>();
  for (const location of all) {
    const link = "targetUri" in location;
    const path = pathOf(fs, link ? location.targetUri : location.uri);
    const line = (link ? location.targetSelectionRange : location.range).start.line + 1;
    places.set(`${line} ${path}`, { path, line });
  }
  return withLines(fs, [...places.values()], signal);
}

/** How many files are read for the lines of one result. */
const MOST_READ = 40;
/** How much of one, in bytes: what is so long was not shown to the server either. */
const MAX_READ = 4 * 1024 * 1024;

async function withLines(
  fs: FileSystem,
  places: readonly { path: string; line: number }[],
  signal: AbortSignal,
): Promise<Found[]> {
  const files = new Map<string, readonly string[]>();
  const found: Found[] = [];
  for (const { path, line } of places) {
    let lines = files.get(path);
    if (lines === undefined) {
      lines = isInside(path) && files.size < MOST_READ ? await linesAt(fs, path, signal) : [];
      files.set(path, lines);
    }
    found.push({ path, line, text: short(lines[line - 1] ?? "") });
  }
  return found;
}

async function linesAt(fs: FileSystem, path: string, signal: AbortSignal): Promise<string[]> {
  try {
    return linesOf(new TextDecoder().decode(await fs.readFile(path, { signal, end: MAX_READ })));
  } catch (error) {
    if (isFsError(error)) return [];
    throw error;
  }
}

/** What the server says of a symbol; undefined where it says nothing. */
export async function hover(
  server: ServerSession,
  at: { uri: string; place: Place },
  signal: AbortSignal,
): Promise<string | undefined> {
  need(server, "hover");
  const where = { textDocument: { uri: at.uri }, position: at.place };
  const answer = await server.ask(HoverRequest.type, where, signal);
  const text = answer === null ? "" : hoverText(answer);
  return text === "" ? undefined : text;
}

/** The symbols of a file, indented by what contains them. */
export async function fileSymbols(
  server: ServerSession,
  path: string,
  uri: string,
  signal: AbortSignal,
): Promise<Found[]> {
  need(server, "symbols");
  const answer = (await server.ask(DocumentSymbolRequest.type, { textDocument: { uri } }, signal)) ?? [];
  const found: Found[] = [];
  const add = (symbol: DocumentSymbol | SymbolInformation, depth: number): void => {
    const { start } = "location" in symbol ? symbol.location.range : symbol.selectionRange;
    const text = `${"  ".repeat(Math.min(depth, 10))}${kindName(symbol.kind)} ${short(symbol.name)}`;
    found.push({ path, line: start.line + 1, text });
    if ("children" in symbol) for (const child of inOrder(symbol.children ?? [])) add(child, depth + 1);
  };
  for (const symbol of inOrder(answer)) add(symbol, 0);
  return found;
}

/** As they stand in the file. */
function inOrder(symbols: readonly (DocumentSymbol | SymbolInformation)[]): (DocumentSymbol | SymbolInformation)[] {
  return symbols.toSorted((a, b) => firstLine(a) - firstLine(b));
}

function firstLine(symbol: DocumentSymbol | SymbolInformation): number {
  return ("location" in symbol ? symbol.location.range : symbol.range).start.line;
}

/** The symbols of the whole folder whose names are like `query`. */
export async function folderSymbols(
  fs: FileSystem,
  server: ServerSession,
  query: string,
  signal: AbortSignal,
): Promise<Found[]> {
  if (!server.can("workspaceSymbolProvider")) throw cannot(server, "look for symbols in the whole folder");
  const answer = (await server.ask(WorkspaceSymbolRequest.type, { query }, signal)) ?? [];
  return answer.map(({ name, kind, containerName, location }) => ({
    path: pathOf(fs, location.uri),
    line: "range" in location ? location.range.start.line + 1 : 1,
    text: `${kindName(kind)} ${short(name)}${containerName ? ` (in ${short(containerName)})` : ""}`,
  }));
}

const PROVIDERS = {
  definition: "definitionProvider",
  implementation: "implementationProvider",
  references: "referencesProvider",
  hover: "hoverProvider",
  symbols: "documentSymbolProvider",
} as const;

function need(server: ServerSession, operation: keyof typeof PROVIDERS): void {
  if (!server.can(PROVIDERS[operation])) throw cannot(server, `answer "${operation}"`);
}

function cannot(server: ServerSession, what: string): Failure {
  return new Failure("not supported", `The language server "${server.name}" cannot ${what}. Search the files instead.`);
}
