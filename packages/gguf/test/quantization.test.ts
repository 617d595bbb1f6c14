import { GGMLFileQuantizationType, GGUF_QUANT_ORDER, parseGGUFQuantLabel } from "@huggingface/gguf";
import { expect, test } from "vitest";
import { parseQuantization, quantization, quantizationOfFile, quantizations } from "../src/index.js";

test.each([
  ["Q4_K_M", "Q4_K_M"],
  ["q4_k_m", "Q4_K_M"],
  ["Q4-K-M", "Q4_K_M"],
  ["q4km", "Q4_K_M"],
  [" q8.0 ", "Q8_0"],
  ["fp16", "F16"],
  ["ud-q4_k_xl", "UD-Q4_K_XL"],
  ["main", undefined],
  ["Q4", undefined],
  ["", undefined],
  ["UD-", undefined],
  ["constructor", undefined],
])("%j is %j", (text, expected) => {
  expect(parseQuantization(text)).toBe(expected);
});

test.each([
  ["Llama-3.2-1B-Instruct-Q4_K_M.gguf", "Q4_K_M"],
  ["llama-3.2-1b-instruct-q4_k_m.gguf", "Q4_K_M"],
  ["Llama-3.2-1B-Instruct.Q4_K_M.gguf", "Q4_K_M"],
  ["Llama-3.2-1B.i1-IQ3_XXS.gguf", "IQ3_XXS"],
  ["gemma-3-4b-it-qat-q4_0.gguf", "Q4_0"],
  ["gpt-oss-20b-MXFP4.gguf", "MXFP4"],
  ["Qwen3-30B-A3B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"],
  ["Model-Q6_K_L.gguf", "Q6_K_L"],
  ["Model-fp16.gguf", "F16"],
  ["Model-BF16-00001-of-00002.gguf", "BF16"],
  ["Q4_K_M/Model-00001-of-00009.gguf", "Q4_K_M"],
  ["UD-Q2_K_XL/GLM-5.2-UD-Q2_K_XL-00001-of-00003.gguf", "UD-Q2_K_XL"],
  ["Q8_0/Model-Q4_K_S.gguf", "Q4_K_S"],
  ["Model-Q8_0-imat-Q4_K_S.gguf", "Q4_K_S"],
  ["Model-Q4_K_M-v2.gguf", "Q4_K_M"],
  ["model.gguf", undefined],
])("the file %s is %s", (file, expected) => {
  expect(quantizationOfFile(file)).toBe(expected);
});

test("every quantization is found again in a file's name, however it is written, and has a size", () => {
  for (const { name, bits } of quantizations) {
    for (const written of [name, name.toLowerCase(), name.replaceAll("_", "-")]) {
      expect(quantizationOfFile(`Some-Model-7B-${written}.gguf`)).toBe(name);
    }
    expect(bits).toBeGreaterThan(1);
    expect(quantization(name.toLowerCase())?.bits).toBe(bits);
  }
});

test("they go from the largest to the smallest", () => {
  const bits = quantizations.map((q) => q.bits);
  expect(bits).toEqual(bits.toSorted((a, b) => b - a));
});

test("Hugging Face's own list is known, but for types that llama.cpp has dropped", () => {
  const dropped = /^Q4_0_|^Q4_[23]$|SOME_F16/;
  const theirs = GGUF_QUANT_ORDER.map((type) => GGMLFileQuantizationType[type] ?? "").filter((q) => !dropped.test(q));
  expect(theirs.filter((q) => parseQuantization(q) !== q)).toEqual([]);
  for (const q of theirs) expect(parseGGUFQuantLabel(`Model-${q}.gguf`)).toBe(quantizationOfFile(`Model-${q}.gguf`));
});

test("families", () => {
  const family = (name: string) => quantization(name)?.family;
  expect(["F16", "BF16", "Q8_0", "Q4_K_M", "IQ4_XS", "TQ1_0", "MXFP4"].map(family)).toEqual([
    "float",
    "float",
    "legacy",
    "k",
    "i",
    "ternary",
    "fp4",
  ]);
});
