#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Before anything else is imported, so that the next start finds it compiled.
enableCompileCache?.();
const { main } = await import("./cli.js");
await main(process.argv.slice(2));
