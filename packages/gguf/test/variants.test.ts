import { describe, expect, test } from "vitest";
import { chooseVariant, modelVariants } from "../src/index.js";
import { failureOf } from "./support/hub.js";

const files = (...paths: string[]) => paths.map((path, i) => ({ path, bytes: 1000 - i }));
const names = (...paths: string[]) =>
  modelVariants(files(...paths)).map(({ quantization, files: [first] }) => quantization ?? first?.path);
const choose = (paths: string[], wish = {}, repo = "acme/Model-GGUF") => {
  const { variant, reason } = chooseVariant(repo, modelVariants(files(...paths)), wish);
  return { path: variant.files[0]?.path, reason };
};
const problem = async (paths: string[], wish = {}) => (await failureOf((async () => choose(paths, wish))())).problem;

describe("what can be loaded", () => {
  test("models, the largest first; no projectors, no importance matrices, nothing else", () => {
    expect(
      names(
        "m-Q8_0.gguf",
        "mmproj-F16.gguf",
        "mmproj-model-f16.gguf",
        "imatrix_unsloth.gguf",
        "m.imatrix.gguf",
        "README.md",
        "m-Q4_0.GGUF",
      ),
    ).toEqual(["Q8_0", "Q4_0"]);
  });

  test("the parts of a split model are one, in order", () => {
    const parts = [
      "Q8_0/m-Q8_0-00002-of-00003.gguf",
      "Q8_0/m-Q8_0-00001-of-00003.gguf",
      "Q8_0/m-Q8_0-00003-of-00003.gguf",
    ];
    const [variant, ...more] = modelVariants(files(...parts));
    expect(more).toEqual([]);
    expect(variant).toMatchObject({ quantization: "Q8_0", bytes: 2997 });
    expect(variant?.files.map(({ path }) => path)).toEqual(parts.toSorted());
  });

  test("a split model with a part missing is none", () => {
    expect(names("m-Q8_0-00001-of-00002.gguf", "n-Q4_0.gguf")).toEqual(["Q4_0"]);
  });
});

describe("which one", () => {
  test("Q4_K_M where nothing is said", () => {
    expect(choose(["m-Q8_0.gguf", "m-Q4_K_M.gguf", "m-Q4_K_S.gguf"])).toMatchObject({ path: "m-Q4_K_M.gguf" });
  });

  test.each([
    [["m-Q8_0.gguf", "m-Q5_K_M.gguf", "m-Q2_K.gguf"], "m-Q5_K_M.gguf"],
    [["m-Q8_0.gguf", "m-BF16.gguf"], "m-Q8_0.gguf"],
    [["m-UD-Q4_K_XL.gguf", "m-Q3_K_M.gguf"], "m-UD-Q4_K_XL.gguf"],
    [["m-Q4_K_S.gguf", "m-IQ4_XS.gguf"], "m-Q4_K_S.gguf"],
  ])("else what is nearest, and why: %j", (paths, expected) => {
    const { path, reason } = choose(paths);
    expect(path).toBe(expected);
    expect(reason).toMatch(/has no Q4_K_M; .* is nearest/);
  });

  test("the only model, though its name says nothing", () => {
    expect(choose(["model.gguf"]).path).toBe("model.gguf");
  });

  test("what is asked for, in any uploader's spelling", () => {
    expect(choose(["m-q8_0.gguf", "m.Q4_K_M.gguf"], { quantization: "Q8_0" }).path).toBe("m-q8_0.gguf");
    expect(choose(["m-UD-Q4_K_XL.gguf"], { quantization: "Q4_K_XL" }).path).toBe("m-UD-Q4_K_XL.gguf");
    expect(choose(["m-Q4_K_M.gguf"], { quantization: "UD-Q4_K_M" }).path).toBe("m-Q4_K_M.gguf");
    expect(choose(["a-UD-Q8_0.gguf", "a-Q8_0.gguf"], { quantization: "Q8_0" }).path).toBe("a-Q8_0.gguf");
  });

  test("a file by its path, in any case; a part stands for all", () => {
    const paths = ["Sub/m-Q8_0-00001-of-00002.gguf", "Sub/m-Q8_0-00002-of-00002.gguf"];
    expect(choose(paths, { file: "sub/M-q8_0-00002-of-00002.gguf" }).path).toBe(paths[0]);
  });

  test("of several models the one called like the repository", () => {
    expect(choose(["draft-Q4_K_M.gguf", "model-Q4_K_M.gguf"]).path).toBe("model-Q4_K_M.gguf");
  });

  test("never a guess", async () => {
    expect(await problem(["a-Q4_K_M.gguf", "b-Q4_K_M.gguf"])).toBe("ambiguous");
    expect(await problem(["a.gguf", "b.gguf"])).toBe("ambiguous");
    expect(await problem(["m-Q8_0.gguf"], { quantization: "Q4_K_M" })).toBe("quantizationNotFound");
    expect(await problem(["m-Q8_0.gguf"], { file: "n.gguf" })).toBe("fileNotInRepo");
    expect(await problem(["README.md"])).toBe("noGguf");
  });
});
