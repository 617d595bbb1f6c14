import type { FileSystem } from "@shedkit/fs";
import { defineTool, type TypedTool } from "@shedkit/tool";
import { decodeText, isBinary } from "@shedkit/tools-files/internals";
import type { FileFinder } from "@shedkit/tools-search";
import { accessToPlaces, type LineForm, searchFiles } from "@shedkit/tools-search/internals";
import * as Type from "@sinclair/typebox";
import { BUNDLE, STANDARD_TOOLS } from "./bundle.js";
import { LineHashes } from "./hash.js";
import { shownText } from "./lines.js";
import { checkHashLength, USUAL_LETTERS } from "./settings.js";

/** The arguments of `hashline_grep`. */
export interface HashlineGrepInput {
  /** A regular expression. */
  query: string;
  /** Files and folders. Default: the root folder. */
  paths?: string[] | undefined;
  /** Only files whose paths fit, e.g. `*.ts`. */
  glob?: string | undefined;
  /** Default: false. */
  ignore_case?: boolean | undefined;
  /** Lines shown before and after each match. Default: 0. */
  context?: number | undefined;
  /** How many matching lines are shown. Default: 200. */
  limit?: number | undefined;
  /** Also names that begin with a dot. Default: false. */
  hidden?: boolean | undefined;
}

/** What `hashline_grep` gives beside its text. */
export interface HashlineGrepOutput {
  matches: { path: string; line_number: number; anchor: string; content: string }[];
  /** True where something is left out. */
  truncated: boolean;
}

/** Settings of `hashline_grep`. */
export interface HashlineGrepParams {
  /** How many letters the hashes have that it shows: 2 to 8. Default: 3. */
  hashLength: number;
  /** How long a search may take, in milliseconds; then what was found is shown. Default: 20,000. */
  timeoutMs: number;
  /** Files that are larger are not looked into, in bytes. Default: 16 MiB. */
  maxFileBytes: number;
}

/** What a search may use besides the file system. */
export interface HashlineGrepOptions extends Partial<HashlineGrepParams> {
  /** Lists files faster, where there is one: `ripgrep(...)` of `@shedkit/tools-search/node`. */
  finder?: FileFinder | undefined;
}

const Input = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 10_000, description: "A regular expression." }),
    paths: Type.Optional(Type.Array(Type.String(), { description: "Files and folders. Default: the root folder." })),
    glob: Type.Optional(Type.String({ description: "Only files whose paths fit, e.g. *.ts or src/**/*.{js,ts}." })),
    ignore_case: Type.Optional(Type.Boolean({ default: false })),
    context: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "Lines before and after a match." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: "How many lines are shown. Default: 200." })),
    hidden: Type.Optional(Type.Boolean({ description: "Also names that begin with a dot.", default: false })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  matches: Type.Array(
    Type.Object({
      path: Type.String(),
      line_number: Type.Integer(),
      anchor: Type.String(),
      content: Type.String(),
    }),
  ),
  truncated: Type.Boolean(),
});

const Params = Type.Object(
  {
    hashLength: Type.Integer(),
    timeoutMs: Type.Integer({ minimum: 1, maximum: 100_000 }),
    maxFileBytes: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
);

/** Searches the lines of files, and shows each with the anchor that `hashline_edit` takes. */
export function hashlineGrepTool(
  fs: FileSystem,
  { finder, ...params }: HashlineGrepOptions = {},
): TypedTool<HashlineGrepInput, HashlineGrepOutput> {
  return defineTool({
    id: "hashline_grep",
    namespace: "hashline",
    kind: "search",
    category: "search_files",
    description:
      "Search the lines of files by a regular expression.\nEach line found has its anchor before it. What ignore files " +
      "name is left out.",
    input: Input,
    output: Output,
    params: {
      schema: Params,
      defaults: { hashLength: USUAL_LETTERS, timeoutMs: 20_000, maxFileBytes: 16 * 1024 * 1024, ...params },
      check: (own) => checkHashLength(own),
    },
    conflicts: STANDARD_TOOLS,
    bundle: BUNDLE,
    // The tool keeps to its own limits, and its notes at the end must stay.
    capabilities: { maxResultBytes: 400_000 },
    access: ({ paths }) => accessToPlaces(fs, paths),
    run: (input, ctx) => searchFiles(fs, finder, input, ctx, { form: anchored(ctx.params.hashLength) }),
  });
}

function anchored(letters: number): LineForm {
  return {
    decode: (bytes) => (isBinary(bytes) ? undefined : shownText(decodeText(bytes).text)),
    anchors: (lines) => {
      const hashes = new LineHashes(lines);
      return (index) => `${index + 1}:${hashes.of(index, letters)}`;
    },
  };
}
