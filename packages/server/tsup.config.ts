import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig([
  { ...base, entry: ["src/index.ts", "src/node.ts"], clean: false },
  {
    // The page: one script that needs nothing else, beside its HTML and its style.
    entry: { page: "page/main.tsx" },
    outDir: "dist/page",
    publicDir: "page/public",
    format: ["iife"],
    target: "es2022",
    platform: "browser",
    minify: true,
    dts: false,
    sourcemap: false,
    clean: false,
    noExternal: [/./],
    outExtension: () => ({ js: ".js" }),
    esbuildOptions(options) {
      options.jsx = "automatic";
      options.jsxImportSource = "preact";
    },
  },
]);
