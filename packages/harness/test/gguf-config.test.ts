import { describe, expect, it } from "vitest";
import { HuggingFaceGgufConfig } from "../src/index.js";

describe("HuggingFaceGgufConfig", () => {
  const config: HuggingFaceGgufConfig = { cacheDir: "/models", threads: 3, backend: "cuda", gpuLayers: 12 };

  it("onCpu forces the CPU and keeps the rest", () => {
    expect(HuggingFaceGgufConfig.onCpu(config)).toEqual({ ...config, backend: "cpu", gpuLayers: 0 });
    expect(HuggingFaceGgufConfig.onCpu()).toEqual({ backend: "cpu", gpuLayers: 0 });
  });

  it("onGpu puts every layer on the GPU: Metal on Apple, elsewhere what there is", () => {
    const on = HuggingFaceGgufConfig.onGpu;
    expect(on({ threads: 3 }, "darwin")).toEqual({ threads: 3, backend: "metal", gpuLayers: "all" });
    expect(on({ threads: 3 }, "linux")).toEqual({ threads: 3, backend: "auto", gpuLayers: "all" });
    expect(on({ backend: "vulkan" }, "linux")).toEqual({ backend: "vulkan", gpuLayers: "all" });
    expect(on({ backend: "cpu", gpuLayers: 0 }, "linux")).toEqual({ backend: "auto", gpuLayers: "all" });
  });

  it("changes no configuration it is given", () => {
    const before = structuredClone(config);
    HuggingFaceGgufConfig.onCpu(config);
    HuggingFaceGgufConfig.onGpu(config, "linux");
    expect(config).toEqual(before);
  });

  it("withCacheDir is the default with another cache folder", () => {
    expect(HuggingFaceGgufConfig.withCacheDir("/models")).toEqual({ cacheDir: "/models" });
  });
});
