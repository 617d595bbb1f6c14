import type { Options } from "tsup";

/** Shared by every published package: one ESM bundle per entry; `tsc` writes the declarations. */
export const base: Options = {
  entry: ["src/index.ts"],
  format: ["esm"],
  target: "node22",
  platform: "node",
  dts: false,
  sourcemap: true,
  clean: true,
  splitting: true,
  removeNodeProtocol: false, // keep "node:": node:sqlite has no name without it
};
