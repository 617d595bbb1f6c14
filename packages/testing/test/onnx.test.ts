import { expect, it } from "vitest";
import { tinyOnnx } from "../src/index.js";

it("gives the same bytes for the same options, others for another seed", () => {
  expect(tinyOnnx({ seed: 3 })).toEqual(tinyOnnx({ seed: 3 }));
  expect(tinyOnnx({ seed: 3 })["onnx/model.onnx"]).not.toEqual(tinyOnnx({ seed: 4 })["onnx/model.onnx"]);
});

it("names the weights as they are told to be", () => {
  expect(Object.keys(tinyOnnx({ suffix: "_q4" }))).toContain("onnx/model_q4.onnx");
});

it("refuses what cannot be a token of its own", () => {
  expect(() => tinyOnnx({ says: ["a"] })).toThrow(RangeError);
  expect(() => tinyOnnx({ says: ["ab", "ab"] })).toThrow('repeats "ab"');
});
