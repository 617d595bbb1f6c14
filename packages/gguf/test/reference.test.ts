import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatModelReference, type ModelReference, parseModelReference, quantizations } from "../src/index.js";

describe("repositories", () => {
  test.each<[string, Partial<ModelReference>]>([
    ["owner/repo", { repo: "owner/repo" }],
    [" owner/repo\n", { repo: "owner/repo" }],
    ["owner/repo:Q4_K_M", { repo: "owner/repo", quantization: "Q4_K_M" }],
    ["owner/repo:q4-k-m", { repo: "owner/repo", quantization: "Q4_K_M" }],
    ["owner/repo:UD-Q4_K_XL", { repo: "owner/repo", quantization: "UD-Q4_K_XL" }],
    ["owner/repo:main", { repo: "owner/repo", revision: "main" }],
    ["owner/repo:refs/pr/1", { repo: "owner/repo", revision: "refs/pr/1" }],
    ["owner/repo:v1.0:q8_0", { repo: "owner/repo", revision: "v1.0", quantization: "Q8_0" }],
    ["hf:owner/repo:Q8_0", { repo: "owner/repo", quantization: "Q8_0" }],
    ["hf://owner/repo", { repo: "owner/repo" }],
    ["hf.co/owner/repo:Q8_0", { repo: "owner/repo", quantization: "Q8_0" }],
    ["hf:owner/repo/sub/Model-Q8_0.gguf", { repo: "owner/repo", file: "sub/Model-Q8_0.gguf" }],
    ["hf:owner/repo/m.gguf:v2", { repo: "owner/repo", file: "m.gguf", revision: "v2" }],
    ["https://huggingface.co/owner/repo", { repo: "owner/repo" }],
    ["https://huggingface.co/owner/repo/tree/main", { repo: "owner/repo" }],
    ["https://huggingface.co/owner/repo/tree/v2/folder", { repo: "owner/repo", revision: "v2" }],
    ["https://huggingface.co/owner/repo/blob/main/a%20b.gguf?x=1", { repo: "owner/repo", file: "a b.gguf" }],
    ["https://hf.co/owner/repo/resolve/v2/m.gguf", { repo: "owner/repo", revision: "v2", file: "m.gguf" }],
    ["Gemma-4-E2B:Q8_0", { repo: "unsloth/gemma-4-E2B-it-GGUF", quantization: "Q8_0" }],
  ])("%s", (text, expected) => {
    expect(parseModelReference(text)).toEqual({ type: "hub", ...expected });
  });
});

describe("paths", () => {
  test.each([
    "./model",
    "../models/m.gguf",
    "/abs/blob",
    "~/models/m.gguf",
    "models/m.gguf",
    "M.GGUF",
    "C:\\models\\m.bin",
    "c:/models/m",
    "models\\m.gguf",
    ".",
    "/",
    "dir with ünïcode/模型.gguf",
  ])("%s", (path) => {
    expect(parseModelReference(path)).toEqual({ type: "file", path });
  });

  test("a file's address is its path", () => {
    expect(parseModelReference("file:///tmp/a%20b.gguf")).toEqual({ type: "file", path: "/tmp/a b.gguf" });
  });
});

test.each([
  ["", /empty/],
  ["   ", /empty/],
  ["gpt-4", /no known model/],
  ["constructor", /no known model/],
  ["owner/", /empty/],
  ["owner/repo:", /empty part/],
  ["owner/repo::Q8_0", /empty part/],
  ["owner/repo:a:b", /"b" is no known quantization/],
  ["owner/repo:a:Q8_0:c", /too many parts/],
  ["owner/repo:../x", /neither a known quantization nor a revision/],
  ["owner/repo:a b", /neither/],
  ["own er/repo", /cannot be part/],
  ["owner/re--po", /cannot be part/],
  ["owner/repo/README.md", /no \.gguf/],
  ["hf:owner/repo/../x.gguf", /no \.gguf/],
  ["https://example.com/m.gguf", /not on Hugging Face/],
  ["https://huggingface.co/owner", /empty/],
  ["https://huggingface.co/owner/repo/discussions/1", /not the page/],
])("%j is refused in one line that says what a reference looks like", (text, why) => {
  try {
    parseModelReference(text);
  } catch (error) {
    const { code, message, details } = error as { code: string; message: string; details: object };
    expect(code).toBe("provider");
    expect(details).toEqual({ problem: "badReference" });
    expect(message).toMatch(why);
    expect(message).toMatch(/owner\/repo/);
    expect(message).not.toContain("\n");
    return;
  }
  throw new Error("it was taken");
});

const name = fc.stringMatching(/^[a-z0-9]([a-z0-9._]{0,8}[a-z0-9])?$/).filter((s) => !s.includes(".."));

test("what is formatted is read again as it was", () => {
  const reference = fc.record(
    {
      type: fc.constant("hub" as const),
      repo: fc.tuple(name, name).map(([a, b]) => `${a}/${b}`),
      revision: fc.stringMatching(/^[a-z]{7,12}$/),
      quantization: fc.constantFrom(...quantizations.map((q) => q.name)),
      file: fc.stringMatching(/^[a-z]{1,5}\/[a-z]{1,5}\.gguf$/),
    },
    { requiredKeys: ["type", "repo"] },
  );
  const file = fc.record({
    type: fc.constant("file" as const),
    path: fc.stringMatching(/^[a-z]{1,5}(\/[a-z]{1,5})?$/),
  });
  fc.assert(
    fc.property(reference, (one) => {
      expect(parseModelReference(formatModelReference(one))).toEqual(one);
    }),
  );
  fc.assert(
    fc.property(file, (one) => {
      expect(parseModelReference(formatModelReference(one))).toEqual({ type: "file", path: `./${one.path}` });
    }),
  );
});

test("any text is either a reference or a clear refusal", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      try {
        parseModelReference(text);
      } catch (error) {
        expect((error as { code: string }).code).toBe("provider");
      }
    }),
  );
});
