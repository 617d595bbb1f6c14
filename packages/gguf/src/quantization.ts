import { modelError } from "./error.js";

/** How a quantization stores weights: plain floats, one scale a block, K-quants, importance quants, ternary, 4-bit floats. */
export type QuantizationFamily = "float" | "legacy" | "k" | "i" | "ternary" | "fp4";

/** A quantization a GGUF file can be made in. */
export interface Quantization {
  /** As llama.cpp writes it: `"Q4_K_M"`. */
  name: string;
  family: QuantizationFamily;
  /** Bits a weight takes on average in a whole model. */
  bits: number;
}

/** What is taken when a reference names none. */
export const DEFAULT_QUANTIZATION = "Q4_K_M";

const FAMILY: { [first: string]: QuantizationFamily } = { F: "float", B: "float", I: "i", T: "ternary" };

/**
 * Bits per weight as llama.cpp's quantize tool reports them for Llama 3.1 8B; the types it does not list by the size
 * of their blocks, the uploaders' own mixes (`_L`, `_XL`) a little above their base.
 */
const BITS: readonly (readonly [string, number])[] = [
  ["F32", 32],
  ["BF16", 16],
  ["F16", 16],
  ["Q8_K_XL", 10.5],
  ["Q8_0", 8.5],
  ["Q6_K_XL", 7.2],
  ["Q6_K_L", 6.7],
  ["Q6_K", 6.56],
  ["Q5_1", 6],
  ["Q5_K_XL", 5.85],
  ["Q5_K_L", 5.8],
  ["Q5_K_M", 5.7],
  ["Q5_K_S", 5.57],
  ["Q5_0", 5.5],
  ["Q4_K_XL", 5.05],
  ["Q4_K_L", 5],
  ["Q4_1", 5],
  ["Q4_K_M", 4.89],
  ["IQ4_NL", 4.68],
  ["Q4_K_S", 4.67],
  ["Q4_0", 4.6],
  ["NVFP4", 4.5],
  ["IQ4_XS", 4.46],
  ["Q3_K_XL", 4.4],
  ["Q3_K_L", 4.3],
  ["MXFP4_MOE", 4.25],
  ["MXFP4", 4.25],
  ["Q3_K_M", 4],
  ["IQ3_M", 3.76],
  ["IQ3_S", 3.66],
  ["Q3_K_S", 3.64],
  ["IQ3_XS", 3.5],
  ["Q2_K_XL", 3.3],
  ["IQ3_XXS", 3.25],
  ["Q2_K_L", 3.2],
  ["Q2_K", 3.16],
  ["Q2_K_S", 2.97],
  ["IQ2_M", 2.93],
  ["IQ2_S", 2.74],
  ["IQ2_XS", 2.59],
  ["IQ2_XXS", 2.38],
  ["Q2_0", 2.25],
  ["IQ1_M", 2.15],
  ["TQ2_0", 2.06],
  ["IQ1_S", 2],
  ["TQ1_0", 1.69],
  ["Q1_0", 1.13],
];

/** The known quantizations, from the largest to the smallest. */
export const quantizations: readonly Quantization[] = BITS.map(([name, bits]) => ({
  name,
  bits,
  family: family(name),
}));

function family(name: string): QuantizationFamily {
  if (name.includes("FP4")) return "fp4";
  return FAMILY[name.charAt(0)] ?? (name.includes("_K") ? "k" : "legacy");
}

// Uploaders write Q4_K_M, q4_k_m, Q4-K-M and q4km: compared without separators.
const byCompactName = new Map<string, Quantization>([
  ...quantizations.map((q) => [q.name.replaceAll("_", ""), q] as const),
  ...(["16", "32"] as const).flatMap((n) => {
    const q = quantizations.find(({ name }) => name === `F${n}`);
    return q ? [[`FP${n}`, q] as const] : [];
  }),
]);

/**
 * The canonical name of a quantization, or undefined where the text is none: `"q4-k-m"` is `"Q4_K_M"`, `"fp16"` is
 * `"F16"`. The mark of Unsloth's dynamic mixes stays: `"UD-Q4_K_XL"`.
 */
export function parseQuantization(text: string): string | undefined {
  const [, dynamic, rest] = /^(UD[-_])?(.*)$/s.exec(text.trim().toUpperCase()) ?? [];
  const found = byCompactName.get((rest ?? "").replace(/[-_. ]/g, ""));
  return found && (dynamic ? `UD-${found.name}` : found.name);
}

/** The canonical name of a quantization. Throws AgenticError `provider` (`badReference`) where there is no such one. */
export function knownQuantization(text: string): string {
  const known = parseQuantization(text);
  if (known !== undefined) return known;
  const examples = `${DEFAULT_QUANTIZATION} and Q8_0 are examples of one`;
  throw modelError("badReference", `"${text}" is no known quantization; ${examples}.`);
}

/** What is known of a quantization, by any spelling of its name. */
export function quantization(name: string): Quantization | undefined {
  const canonical = parseQuantization(name)?.replace(/^UD-/, "");
  return canonical === undefined ? undefined : quantizations.find((q) => q.name === canonical);
}

/**
 * The quantization that a file's path names, in whatever way its uploader writes it; undefined where it names none.
 * The last one counts; the folder is asked where the file is silent (`Q4_K_M/model-00001-of-00002.gguf`).
 */
export function quantizationOfFile(path: string): string | undefined {
  for (const segment of path.split(/[\\/]/).reverse()) {
    const tokens = segment
      .replace(/(-\d{5}-of-\d{5})?\.gguf$/i, "")
      .toUpperCase()
      .split(/[-_. ]/);
    for (let end = tokens.length; end > 0; end--) {
      for (let start = Math.max(0, end - 4); start < end; start++) {
        const found = byCompactName.get(tokens.slice(start, end).join(""));
        if (found) return tokens[start - 1] === "UD" ? `UD-${found.name}` : found.name;
      }
    }
  }
  return undefined;
}
