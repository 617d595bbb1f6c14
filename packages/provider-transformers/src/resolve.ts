import { readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fetchRepositoryFiles } from "@shedkit/gguf";
import { AgenticError } from "@shedkit/types";
import { DTYPES, parseModelName, SUFFIX } from "./model-name.js";
import type { OnnxDtype, OnnxResolver, TransformersOptions } from "./options.js";
import { POOLING_FILE } from "./vector-model.js";

/** What a model has beside its weights, as far as it has it. */
const SMALL_FILES = new Set([
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "chat_template.jinja",
  POOLING_FILE,
]);
const NEEDED = ["config.json", "tokenizer.json", "tokenizer_config.json"];

/** Finds folders by their path, and repositories of the hub, of which it fetches what one kind of weights needs. */
export function onnxResolver({ hub, cacheDir, dtype }: TransformersOptions): OnnxResolver {
  return async (name, { signal, onEvent }) => {
    const parsed = parseModelName(name);
    if (parsed.type === "folder") return localFolder(parsed.path, dtype);
    const { repo, revision } = parsed;
    let chosen: OnnxDtype | undefined;
    const { folder, bytes } = await fetchRepositoryFiles(repo, {
      revision,
      hub: cacheDir === undefined ? hub : { ...hub, cacheDir },
      signal,
      onEvent,
      choose(files) {
        const paths = files.map(({ path }) => path);
        chosen = choose(repo, paths, dtype ?? parsed.dtype);
        return paths.filter((path) => SMALL_FILES.has(path) || isWeights(path, chosen));
      },
    });
    return { folder, bytes, dtype: chosen ?? "fp32" };
  };
}

async function localFolder(given: string, wanted: OnnxDtype | undefined) {
  const folder = resolve(given.replace(/^~(?=$|[\\/])/, () => homedir()));
  const paths = (await readdir(folder, { recursive: true }).catch(() => [])).map((path) => path.replaceAll("\\", "/"));
  if (paths.length === 0) {
    throw new AgenticError("provider", `There is no folder ${folder} with a model; check the path.`, {
      problem: "fileNotFound",
    });
  }
  const dtype = choose(folder, paths, wanted);
  const sizes = await Promise.all(
    paths.filter((path) => isWeights(path, dtype)).map(async (path) => (await stat(join(folder, path))).size),
  );
  return { folder, dtype, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** The kind of weights to take. Throws AgenticError `provider` where the files are no model, or do not have them. */
function choose(what: string, paths: readonly string[], wanted: OnnxDtype | undefined): OnnxDtype {
  const missing = NEEDED.filter((path) => !paths.includes(path));
  const kinds = DTYPES.filter((dtype) => paths.some((path) => isWeights(path, dtype)));
  if (kinds.length === 0 || missing.length > 0) {
    const lacks = kinds.length === 0 ? "onnx/model.onnx" : missing.join(", ");
    throw new AgenticError(
      "provider",
      `${what} holds no ONNX model: ${lacks} is missing. Take a repository made for transformers.js, e.g. of onnx-community.`,
      { problem: "notAModel" },
    );
  }
  const chosen = wanted === undefined ? kinds[0] : kinds.find((dtype) => dtype === wanted);
  if (chosen !== undefined) return chosen;
  throw new AgenticError("provider", `${what} has no ${wanted} weights; it has ${kinds.join(", ")}.`, {
    problem: "quantizationNotFound",
  });
}

function isWeights(path: string, dtype: OnnxDtype | undefined): boolean {
  const match = /^onnx\/(?:model|decoder_model_merged|embed_tokens)(_[a-z0-9]+)?\.onnx(?:_data(?:_\d+)?)?$/.exec(path);
  return match !== null && dtype !== undefined && (match[1] ?? "") === SUFFIX[dtype];
}
