import { IgnoreRules, nameOf } from "@shedkit/fs";

/** Kinds of files by ripgrep's names for them, with the names that its files have: those that code and its papers are of. */
const GLOBS: { readonly [type: string]: string } = {
  asm: "*.asm *.s *.S",
  bat: "*.bat",
  c: "*.[chH] *.[chH].in *.cats",
  clojure: "*.clj *.cljc *.cljs *.cljx",
  cmake: "*.cmake CMakeLists.txt",
  cpp: "*.[ChH] *.[ChH].in *.[ch]pp *.[ch]pp.in *.[ch]xx *.[ch]xx.in *.cc *.cc.in *.hh *.hh.in *.inl",
  cs: "*.cs",
  css: "*.css *.scss",
  csv: "*.csv",
  dart: "*.dart",
  docker: "*Dockerfile*",
  elixir: "*.eex *.ex *.exs *.heex *.leex *.livemd",
  elm: "*.elm",
  erlang: "*.erl *.hrl",
  fsharp: "*.fs *.fsi *.fsx",
  go: "*.go",
  gradle: "*.gradle *.gradle.kts gradle-wrapper.* gradle.properties gradlew gradlew.bat",
  graphql: "*.graphql *.graphqls",
  groovy: "*.gradle *.groovy",
  h: "*.h *.hh *.hpp",
  haskell: "*.c2hs *.cpphs *.hs *.hsc *.lhs",
  html: "*.ejs *.htm *.html",
  java: "*.java *.jsp *.jspx *.properties",
  js: "*.cjs *.js *.jsx *.mjs *.vue",
  json: "*.json *.sarif composer.lock",
  jsonl: "*.jsonl",
  julia: "*.jl",
  jupyter: "*.ipynb *.jpynb",
  kotlin: "*.kt *.kts",
  less: "*.less",
  log: "*.log",
  lua: "*.lua",
  make: "*.mak *.mk Makefile.* [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile [Mm]akefile.am [Mm]akefile.in",
  md: "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn",
  nix: "*.nix",
  objc: "*.h *.m",
  ocaml: "*.ml *.mli *.mll *.mly",
  perl: "*.PL *.perl *.pl *.plh *.plx *.pm *.t",
  php: "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml",
  protobuf: "*.proto",
  ps: "*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1",
  py: "*.py *.pyi",
  r: "*.R *.Rmd *.Rnw *.r *.rmd *.rnw",
  rst: "*.rst",
  ruby: "*.gemspec *.rake *.rb *.rbw .irbrc Gemfile Rakefile config.ru",
  rust: "*.rs",
  sass: "*.sass *.scss",
  scala: "*.sbt *.scala",
  sh: "*.bash *.bashrc *.csh *.cshrc *.env *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .cshrc .env .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc",
  solidity: "*.sol",
  sql: "*.psql *.sql",
  svelte: "*.svelte *.svelte.ts",
  svg: "*.svg",
  swift: "*.swift",
  tex: "*.bib *.cls *.dtx *.ins *.ltx *.sty *.tex",
  tf: "*.terraform.lock.hcl *.terraformrc *.tf *.tf.json *.tfrc *.tfvars *.tfvars.json terraform.rc",
  toml: "*.toml Cargo.lock",
  ts: "*.cts *.mts *.ts *.tsx",
  txt: "*.txt",
  vue: "*.vue",
  xml: "*.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt",
  yaml: "*.yaml *.yml",
  zig: "*.zig",
};

/** Second names of kinds. */
const ALIASES: { readonly [name: string]: string } = {
  csharp: "cs",
  jl: "julia",
  markdown: "md",
  python: "py",
  typescript: "ts",
};

/** The names that are known. */
export const FILE_TYPES: readonly string[] = [...Object.keys(GLOBS), ...Object.keys(ALIASES)].sort();

/** What the names of a kind's files fit; undefined for a kind that is not known. */
export function globsOf(type: string): string[] | undefined {
  const name = Object.hasOwn(ALIASES, type) ? (ALIASES[type] ?? type) : type;
  return Object.hasOwn(GLOBS, name) ? GLOBS[name]?.split(" ") : undefined;
}

/** Tells which paths are of a kind; undefined for one that is not known. */
export function fileTypeOf(type: string): ((path: string) => boolean) | undefined {
  const globs = globsOf(type);
  if (!globs) return undefined;
  const rules = new IgnoreRules(globs.join("\n"));
  return (path) => rules.test(nameOf(path), false) === true;
}
