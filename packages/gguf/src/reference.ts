import { fileURLToPath } from "node:url";
import { modelError } from "./error.js";
import { namedModels } from "./named-models.js";
import { parseQuantization } from "./quantization.js";

/** Which model is meant: a file of this machine, or one of a repository on a hub. */
export type ModelReference =
  | { type: "file"; path: string }
  | {
      type: "hub";
      /** `owner/repo`. */
      repo: string;
      /** A branch, tag or commit. Default: `main`. */
      revision?: string | undefined;
      /** Its canonical name, see {@link parseQuantization}. */
      quantization?: string | undefined;
      /** The path of one file in the repository. */
      file?: string | undefined;
    };

const FORMS =
  'Give a Hugging Face repository ("owner/repo", "owner/repo:Q4_K_M", "owner/repo:revision:Q4_K_M") ' +
  'or the path of a .gguf file ("./model.gguf").';

const HUB_HOSTS = new Set(["huggingface.co", "www.huggingface.co", "hf.co"]);
const PATH_START = /^(\.{0,2}[\\/]|~[\\/]|[a-z]:[\\/]|\.{1,2}$|~$)/i;
const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?$/;

/**
 * Reads the name of a model.
 *
 * - `owner/repo`, `owner/repo:quantization`, `owner/repo:revision`, `owner/repo:revision:quantization`: the last part
 *   is a quantization if it is a known one, else a revision. `hf:` or `huggingface.co/` may stand in front.
 * - `hf:owner/repo/folder/file.gguf`, or the address of a file's page: that very file.
 * - What begins like a path (`/`, `./`, `../`, `~/`, `C:\`, `file://`) or ends in `.gguf`: a file.
 * - A short name of {@link namedModels}, alone or with `:quantization`.
 *
 * Throws AgenticError `provider` (`badReference`) where the text is none of these.
 */
export function parseModelReference(text: string): ModelReference {
  const name = text.trim();
  if (name === "") throw bad("The model's name is empty.");
  if (/^file:/i.test(name)) return { type: "file", path: filePath(name) };
  const url = /^https?:\/\//i.test(name) ? urlOf(name) : undefined;
  if (url) return hubUrl(url);
  const [, prefix, rest = ""] =
    /^(hf:(?:\/\/)?|huggingface:|(?:www\.)?huggingface\.co\/|hf\.co\/)?(.*)$/is.exec(name) ?? [];
  if (prefix === undefined && (PATH_START.test(name) || name.includes("\\") || /\.gguf$/i.test(name))) {
    return { type: "file", path: name };
  }
  const [path = "", ...marks] = rest.split(":");
  return { ...repoAndFile(path, name), ...revisionAndQuantization(marks, name) };
}

/** A reference as text, such that {@link parseModelReference} reads the same again. */
export function formatModelReference(reference: ModelReference): string {
  if (reference.type === "file") {
    return PATH_START.test(reference.path) || /\.gguf$/i.test(reference.path) ? reference.path : `./${reference.path}`;
  }
  const { repo, file, revision, quantization } = reference;
  const marks = [revision, quantization].flatMap((mark) => (mark === undefined ? [] : [`:${mark}`])).join("");
  return file === undefined ? `${repo}${marks}` : `hf:${repo}/${file}${marks}`;
}

function bad(message: string) {
  return modelError("badReference", `${message} ${FORMS}`);
}

function filePath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw modelError("badReference", `"${url}" is no address of a file on this machine. ${FORMS}`, { cause: error });
  }
}

function urlOf(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw bad(`"${text}" is no valid address.`);
}

function hubUrl(url: URL): ModelReference {
  if (!HUB_HOSTS.has(url.hostname)) {
    throw bad(`"${url.href}" is not on Hugging Face; download it and give the file's path, or name a repository.`);
  }
  const segments = url.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const [owner = "", repo = "", kind, revision, ...file] = segments;
  const { type, repo: name } = repoAndFile(`${owner}/${repo}`, url.href);
  if (kind === undefined) return { type, repo: name };
  if (!/^(tree|blob|resolve|raw)$/.test(kind) || revision === undefined) {
    throw bad(`"${url.href}" is not the page of a model or of a file.`);
  }
  const branch = revision === "main" ? {} : { revision };
  return file.length === 0 || kind === "tree"
    ? { type, repo: name, ...branch }
    : { type, repo: name, ...branch, file: file.join("/") };
}

function repoAndFile(path: string, given: string): { type: "hub"; repo: string; file?: string } {
  const [owner = "", repo, ...file] = path.split("/");
  if (repo === undefined) {
    const known = Object.entries(namedModels).find(([short]) => short === owner.toLowerCase());
    if (known) return { type: "hub", repo: known[1] };
    throw bad(`"${given}" names no known model: the owner of the repository is missing.`);
  }
  for (const part of [owner, repo]) {
    if (!NAME.test(part) || part.includes("--") || part.includes("..")) {
      throw bad(
        `"${given}" is no model's name: ${part === "" ? "a part of owner/repo is empty" : `"${part}" cannot be part of owner/repo`}.`,
      );
    }
  }
  if (file.length === 0) return { type: "hub", repo: `${owner}/${repo}` };
  const name = file.join("/");
  if (!/\.gguf$/i.test(name) || file.some((part) => part === "" || part === "." || part === "..")) {
    throw bad(`"${given}" names the file "${name}", which is no .gguf.`);
  }
  return { type: "hub", repo: `${owner}/${repo}`, file: name };
}

function revisionAndQuantization(
  marks: readonly string[],
  given: string,
): { revision?: string; quantization?: string } {
  const [first, second, ...more] = marks;
  if (first === undefined) return {};
  if (marks.includes("")) throw bad(`"${given}" has an empty part after ":".`);
  if (more.length > 0) throw bad(`"${given}" has too many parts after the repository.`);
  const last = parseQuantization(second ?? first);
  if (second === undefined) return last === undefined ? { revision: revision(first, given) } : { quantization: last };
  if (last === undefined) throw bad(`"${given}": "${second}" is no known quantization, such as Q4_K_M or Q8_0.`);
  return { revision: revision(first, given), quantization: last };
}

// A revision becomes part of paths, on the hub and in the cache.
function revision(text: string, given: string): string {
  const parts = text.split("/");
  if (/^[\w./+@-]+$/.test(text) && !parts.some((part) => part === "" || /^\.+$/.test(part))) return text;
  throw bad(`"${given}": "${text}" is neither a known quantization nor a revision.`);
}
