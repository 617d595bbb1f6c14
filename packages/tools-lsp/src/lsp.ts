import { cleanPath, isFsError, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, ToolError, type TypedTool, type TypedToolContext } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { Failure } from "./failure.js";
import { type Found, fileSymbols, folderSymbols, hover, locations } from "./look.js";
import type { ServerPool } from "./pool.js";
import { findSymbol, linesOf, type Place } from "./position.js";
import { bySeverity, diagnosticLine, isGrave, short, shownPath } from "./render.js";
import { type LanguageServers, poolOf } from "./servers.js";
import type { ServerSession } from "./session.js";

/** The arguments of `lsp`. */
export interface LspInput {
  operation: "definition" | "implementation" | "references" | "hover" | "symbols" | "diagnostics";
  /** The file, relative to the root. */
  path: string;
  /** The line, from 1, where `symbol` stands. Default: the first that has it. */
  line?: number | undefined;
  /** The name to look up, as it stands in the file. */
  symbol?: string | undefined;
  /** For `symbols`: looks in the whole project for names like this. Default: the symbols of the file. */
  query?: string | undefined;
}

/** What `lsp` gives beside its text. */
export interface LspOutput {
  /** What was found, at most `maxResults`. */
  found: Found[];
  /** How much there is. */
  total: number;
}

/** Settings of `lsp`. */
export interface LspParams {
  /** The most places, symbols or diagnostics of one call. Default: 100. */
  maxResults: number;
  /** How long a server is waited for that says the diagnostics of a file unasked, in milliseconds. Default: 10,000. */
  diagnosticsMs: number;
}

const DEFAULTS: LspParams = { maxResults: 100, diagnosticsMs: 10_000 };

const OPERATIONS = ["definition", "implementation", "references", "hover", "symbols", "diagnostics"] as const;

const Input = Type.Object(
  {
    operation: Type.Union(
      OPERATIONS.map((name) => Type.Literal(name)),
      {
        description:
          "definition, implementation, references or hover of a symbol; symbols of a file, or of the whole project; " +
          "diagnostics (errors and warnings) of a file.",
      },
    ),
    path: Type.String({ description: "The file, relative to the root folder." }),
    line: Type.Optional(
      Type.Integer({ minimum: 1, description: "The line where the symbol stands. Default: the first that has it." }),
    ),
    symbol: Type.Optional(
      Type.String({ description: "The name to look up, as it stands in the file, e.g. parseArgs." }),
    ),
    query: Type.Optional(
      Type.String({ description: "For symbols: look in the whole project for names like this one." }),
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  found: Type.Array(Type.Object({ path: Type.String(), line: Type.Integer(), text: Type.String() })),
  total: Type.Integer(),
});

const Params = Type.Object(
  { maxResults: Type.Integer({ minimum: 1 }), diagnosticsMs: Type.Integer({ minimum: 1, maximum: 60_000 }) },
  { additionalProperties: false },
);

type Context = TypedToolContext<LspParams, undefined>;

/** Asks language servers: where a symbol is defined and used, what it is, what a file has, what is wrong with it. */
export function lspTool(servers: LanguageServers, params: Partial<LspParams> = {}): TypedTool<LspInput, LspOutput> {
  const pool = poolOf(servers);
  return defineTool({
    id: "lsp",
    namespace: "code",
    kind: "lsp",
    category: "code",
    description:
      "Ask the language server about code.\nGo to the definition, the implementations or the references of a symbol, see " +
      "its type and documentation, list the symbols of a file or the project, or get the errors and warnings of a file. " +
      "Name the symbol and its line; no columns. More precise than a search by text.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    capabilities: { maxResultBytes: 60_000 },
    access: ({ path }) => [{ action: "read", target: absolute(pool, path) }],
    run: (input, ctx) => answering(ctx, () => lsp(pool, input, ctx)),
  });
}

async function answering(ctx: Context, body: () => Promise<ToolCallResult>): Promise<ToolCallResult> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof Failure) return ToolCallResult.failure(error.detail, error.message);
    if (!isFsError(error)) throw error;
    const { reason, path } = error.details;
    if (reason === "outside" || reason === "permission") {
      throw new ToolError("permissionDenied", ctx.names.tool, error.message, { cause: error });
    }
    if (reason === "io") throw new ToolError("execution", ctx.names.tool, error.message, { cause: error });
    return ToolCallResult.failure(`${reason}: ${quote(path)}`, error.message);
  }
}

function absolute({ fs }: ServerPool, path: string): string {
  const clean = cleanPath(path);
  try {
    return `${fs.root}/${fs.resolve(clean)}`;
  } catch (error) {
    if (isFsError(error)) return clean; // refused when the call runs
    throw error;
  }
}

async function lsp(servers: ServerPool, input: LspInput, ctx: Context): Promise<ToolCallResult> {
  const { fs } = servers;
  const path = fs.resolve(cleanPath(input.path));
  const name = servers.nameFor(path);
  if (name === undefined) throw noServer(servers, path);
  // Before a server is started for nothing.
  await fs.stat(path, { signal: ctx.signal });
  if (needsSymbol(input.operation) && (input.symbol ?? "").trim() === "") {
    const text = `${input.operation} needs ${ctx.names.param("symbol")}: the name to look up, as it stands in ${quote(path)}.`;
    throw new Failure("no symbol", text);
  }
  servers.hold(ctx.resources);
  return servers.use(name, ctx.signal, async (server) => {
    if (input.operation === "diagnostics") return diagnostics(server, path, ctx);
    const { uri, text } = await server.documents.show(path, ctx.signal);
    if (input.operation === "symbols") {
      const { query } = input;
      const found =
        query === undefined
          ? await fileSymbols(server, path, uri, ctx.signal)
          : await folderSymbols(fs, server, query, ctx.signal);
      const of = query === undefined ? `in ${quote(path)}` : `like ${quote(query)}`;
      return list(found, `symbol ${of}`, `symbols ${of}`, ctx, query === undefined ? "line" : "path");
    }
    const { symbol, place, note } = placeOf(path, text, input);
    if (input.operation === "hover") {
      const said = await hover(server, { uri, place }, ctx.signal);
      if (said === undefined)
        throw new Failure("nothing known", `The language server knows nothing of ${symbol} there.`);
      const at = { path, line: place.line + 1, text: said };
      return answer([at], 1, `${shownPath(path)}:${at.line}${note}\n\n${said}`);
    }
    const found = await locations(fs, server, input.operation, { uri, place }, ctx.signal);
    const what = input.operation === "references" ? "reference" : input.operation;
    return list(found, `${what} of ${symbol}${note}`, `${what}s of ${symbol}${note}`, ctx, "path");
  });
}

function needsSymbol(operation: LspInput["operation"]): boolean {
  return operation !== "diagnostics" && operation !== "symbols";
}

function placeOf(
  path: string,
  text: string,
  { symbol, line }: LspInput,
): { symbol: string; place: Place; note: string } {
  const wanted = symbol?.trim() ?? "";
  const lines = linesOf(text);
  const place = findSymbol(lines, wanted, line);
  if (place === undefined) {
    const there = line === undefined ? undefined : lines[line - 1];
    const says = there === undefined ? "" : ` Line ${line} is: ${short(there)}`;
    throw new Failure("symbol not found", `${quote(path)} has no ${quote(wanted)}.${says}`);
  }
  const moved = line !== undefined && place.line !== line - 1;
  const note = moved ? ` (in line ${place.line + 1}; line ${line} does not have it)` : "";
  return { symbol: quote(wanted), place, note };
}

async function diagnostics(server: ServerSession, path: string, ctx: Context): Promise<ToolCallResult> {
  const all = await server.diagnose(path, ctx.params.diagnosticsMs, ctx.signal);
  if (all === undefined) {
    const s = ctx.params.diagnosticsMs / 1000;
    throw new Failure("nothing said", `The language server has said nothing of ${quote(path)} within ${s} s.`);
  }
  const grave = all.filter(isGrave).sort(bySeverity);
  const found = grave.map((diagnostic) => ({
    path,
    line: diagnostic.range.start.line + 1,
    text: diagnosticLine(diagnostic),
  }));
  const of = `in ${quote(path)}`;
  return list(found, `error or warning ${of}`, `errors and warnings ${of}`, ctx, "text");
}

function list(
  found: readonly Found[],
  one: string,
  many: string,
  ctx: Context,
  show: "path" | "line" | "text",
): ToolCallResult {
  if (found.length === 0) return answer([], 0, `No ${many}.`);
  const shown = found.slice(0, ctx.params.maxResults);
  const lines = shown.map(({ path, line, text }) => {
    if (show === "text") return text;
    return `${show === "path" ? `${shownPath(path)}:` : ""}${line}:${text === "" ? "" : ` ${text}`}`;
  });
  const more = found.length - shown.length;
  if (more > 0) lines.push(`[${more} more are not shown.]`);
  return answer(shown, found.length, `${found.length} ${found.length === 1 ? one : many}:\n${lines.join("\n")}`);
}

function answer(found: Found[], total: number, text: string): ToolCallResult {
  const output: LspOutput = { found, total };
  return new ToolCallResult([{ type: "text", text }], { output: { ...output, found: found.map((at) => ({ ...at })) } });
}

function noServer(servers: ServerPool, path: string): Failure {
  const known = servers.endings.join(", ");
  return new Failure(
    "no language server",
    `There is no language server for ${quote(path)}; there is one for ${known === "" ? "no files" : known}. Search the text instead.`,
  );
}
