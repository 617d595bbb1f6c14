import { modelError } from "./error.js";
import { size } from "./hub/parts.js";
import { DEFAULT_QUANTIZATION, quantization, quantizationOfFile } from "./quantization.js";
import { shardNames, shardOf } from "./shards.js";

/** A file of a repository. */
export interface ModelFile {
  path: string;
  bytes: number;
}

/** One loadable model of a repository: a file, or all parts of a split one. */
export interface ModelVariant<F extends ModelFile = ModelFile> {
  /** Undefined where no file name tells. */
  quantization: string | undefined;
  /** In the order of the parts. */
  files: readonly F[];
  /** Of all files together. */
  bytes: number;
}

/** Beside models, repositories hold image projectors and importance matrices as GGUF. */
const NO_MODEL = /(^|[-_./])(mmproj|imatrix)([-_.]|$)/i;

/**
 * What can be loaded from among the files of a repository, the largest first: parts of a split model are put together
 * (a set with a part missing is left out), files that are no models are left out.
 */
export function modelVariants<F extends ModelFile>(files: readonly F[]): ModelVariant<F>[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return files
    .filter(({ path }) => /\.gguf$/i.test(path) && !NO_MODEL.test(path) && (shardOf(path)?.index ?? 1) === 1)
    .flatMap((first) => {
      const parts = shardNames(first.path).flatMap((path) => byPath.get(path) ?? []);
      if (parts.length !== (shardOf(first.path)?.count ?? 1)) return [];
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
      return [{ quantization: quantizationOfFile(first.path), files: parts, bytes }];
    })
    .sort((a, b) => b.bytes - a.bytes || (pathOf(a) < pathOf(b) ? -1 : 1));
}

/** Which variant is wanted. */
export interface VariantWish {
  quantization?: string | undefined;
  /** The path of one file. */
  file?: string | undefined;
}

/** A variant, and why this one. */
export interface ChosenVariant<F extends ModelFile = ModelFile> {
  variant: ModelVariant<F>;
  reason: string;
}

/**
 * Chooses among the variants of `repo`: the file or the quantization that is named, exactly; else Q4_K_M, or what is
 * nearest to it in bits a weight. Throws AgenticError `provider`: `noGguf`, `fileNotInRepo`, `quantizationNotFound`,
 * `ambiguous`; the text says what there is.
 */
export function chooseVariant<F extends ModelFile>(
  repo: string,
  variants: readonly ModelVariant<F>[],
  wish: VariantWish = {},
): ChosenVariant<F> {
  if (variants.length === 0) {
    throw modelError(
      "noGguf",
      `${repo} has no GGUF model. Look for a repository of the same model whose name ends in -GGUF.`,
    );
  }
  if (wish.file !== undefined) return byFile(repo, variants, wish.file);
  if (wish.quantization !== undefined) {
    const found = withQuantization(variants, wish.quantization);
    if (found.length > 0) return { variant: single(repo, found), reason: `${wish.quantization} was asked for.` };
    throw modelError("quantizationNotFound", `${repo} has no ${wish.quantization}; it has ${listed(variants)}.`);
  }
  const usual = withQuantization(variants, DEFAULT_QUANTIZATION);
  if (usual.length > 0) {
    const reason = `${DEFAULT_QUANTIZATION} is the usual choice: small, and close to the whole model.`;
    return { variant: single(repo, usual), reason };
  }
  return nearest(repo, variants);
}

function byFile<F extends ModelFile>(
  repo: string,
  variants: readonly ModelVariant<F>[],
  file: string,
): ChosenVariant<F> {
  const names = (path: string) => path === file || path.toLowerCase() === file.toLowerCase();
  const variant = variants.find(({ files }) => files.some(({ path }) => names(path)));
  if (variant) return { variant, reason: "The file was named." };
  throw modelError("fileNotInRepo", `${repo} has no model file ${file}; it has ${listed(variants)}.`);
}

/** `Q4_K_XL` also means `UD-Q4_K_XL` where only that is there, and the other way round. */
function withQuantization<F extends ModelFile>(variants: readonly ModelVariant<F>[], name: string): ModelVariant<F>[] {
  const exact = variants.filter((variant) => variant.quantization === name);
  if (exact.length > 0) return exact;
  const plain = name.replace(/^UD-/, "");
  return variants.filter((variant) => variant.quantization?.replace(/^UD-/, "") === plain);
}

function nearest<F extends ModelFile>(repo: string, variants: readonly ModelVariant<F>[]): ChosenVariant<F> {
  const usual = quantization(DEFAULT_QUANTIZATION)?.bits ?? 0;
  const known = variants.flatMap((variant) => {
    const bits = quantization(variant.quantization ?? "")?.bits;
    return bits === undefined ? [] : [{ name: variant.quantization ?? "", bits, away: Math.abs(bits - usual) }];
  });
  const best = known.toSorted((a, b) => a.away - b.away || b.bits - a.bits)[0];
  if (!best) {
    const reason = "No file name tells a quantization, and it is the only model.";
    return { variant: single(repo, variants), reason };
  }
  const others = withQuantization(variants, best.name);
  return {
    variant: single(repo, others),
    reason: `${repo} has no ${DEFAULT_QUANTIZATION}; ${best.name} is nearest (${best.bits} against ${usual} bits a weight).`,
  };
}

/** Of several with one quantization the one that is called like the repository. */
function single<F extends ModelFile>(repo: string, variants: readonly ModelVariant<F>[]): ModelVariant<F> {
  const [only, ...more] = variants;
  if (only && more.length === 0) return only;
  const wanted = plain(repo.replace(/^.*\//, "").replace(/[-_.]gguf$/i, ""));
  const named = variants.filter((variant) => {
    const base = plain(pathOf(variant).replace(/^.*\//, ""));
    return base.startsWith(wanted) && base.slice(wanted.length) === plain(`${variant.quantization ?? ""}.gguf`);
  });
  if (named.length === 1 && named[0]) return named[0];
  const paths = variants.map(pathOf).slice(0, 6).join(", ");
  throw modelError(
    "ambiguous",
    `${repo} has several models that fit: ${paths}. Name the file, as in hf:owner/repo/${variants[0] ? pathOf(variants[0]) : ""}`,
  );
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/-\d{5}-of-\d{5}(?=\.gguf$)/, "")
    .replace(/[-_. ]/g, "");
}

function pathOf(variant: ModelVariant): string {
  return variant.files[0]?.path ?? "";
}

function listed(variants: readonly ModelVariant[]): string {
  const shown = variants.slice(0, 12).map((v) => `${v.quantization ?? pathOf(v)} (${size(v.bytes)})`);
  return shown.join(", ") + (variants.length > shown.length ? `, and ${variants.length - shown.length} more` : "");
}
