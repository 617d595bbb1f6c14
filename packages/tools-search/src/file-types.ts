import { nameOf } from "@shedkit/fs";

/** What the names of files end with after a dot, by the kind that a search names; words with a capital are whole names. */
const ENDINGS: { readonly [type: string]: string } = {
  c: "c h",
  clojure: "clj cljc cljs edn",
  cpp: "cc cpp cxx h hh hpp hxx",
  cs: "cs",
  css: "css less scss",
  csv: "csv",
  dart: "dart",
  docker: "dockerfile Dockerfile Containerfile",
  elixir: "ex exs",
  elm: "elm",
  erlang: "erl hrl",
  fsharp: "fs fsi fsx",
  go: "go",
  gradle: "gradle gradle.kts",
  graphql: "gql graphql",
  haskell: "hs",
  html: "htm html",
  java: "java",
  js: "cjs js jsx mjs",
  json: "json json5 jsonc",
  jsonl: "jsonl ndjson",
  julia: "jl",
  jupyter: "ipynb",
  kotlin: "kt kts",
  log: "log",
  lua: "lua",
  make: "mk Makefile GNUmakefile",
  md: "markdown md mdx",
  nix: "nix",
  objc: "m mm",
  ocaml: "ml mli",
  perl: "pl pm",
  php: "php",
  protobuf: "proto",
  py: "py pyi",
  r: "r rmd",
  rst: "rst",
  ruby: "gemspec rake rb Gemfile Rakefile",
  rust: "rs",
  scala: "sbt scala",
  sh: "bash bashrc profile sh zsh zshrc",
  sql: "sql",
  svelte: "svelte",
  swift: "swift",
  tf: "tf tfvars",
  toml: "toml",
  ts: "cts mts ts tsx",
  txt: "txt",
  vue: "vue",
  xml: "xml xsd xsl xslt",
  yaml: "yaml yml",
  zig: "zig",
};

/** Second names of kinds. */
const ALIASES: { readonly [name: string]: string } = {
  csharp: "cs",
  javascript: "js",
  markdown: "md",
  python: "py",
  typescript: "ts",
};

/** The names that are known. */
export const FILE_TYPES: readonly string[] = [...Object.keys(ENDINGS), ...Object.keys(ALIASES)].sort();

/** Tells which paths are of a kind, in letters of any case; undefined for one that is not known. */
export function fileTypeOf(type: string): ((path: string) => boolean) | undefined {
  const name = Object.hasOwn(ALIASES, type) ? (ALIASES[type] ?? type) : type;
  if (!Object.hasOwn(ENDINGS, name)) return undefined;
  const words = ENDINGS[name]?.split(" ") ?? [];
  const whole = new Set(words.filter((word) => /^[A-Z]/.test(word)).map((word) => word.toLowerCase()));
  const endings = words.filter((word) => !/^[A-Z]/.test(word)).map((word) => `.${word}`);
  return (path) => {
    const file = nameOf(path).toLowerCase();
    return whole.has(file) || endings.some((ending) => file.endsWith(ending));
  };
}
