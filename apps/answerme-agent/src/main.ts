#!/usr/bin/env node
import module from "node:module";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  const text = `answerme-agent: this is Node ${process.versions.node}; Node 22.12 or newer is needed`;
  console.error(`${text}: https://nodejs.org`);
  process.exitCode = 2;
} else {
  // Before anything else is imported, so that the next start finds it compiled.
  module.enableCompileCache?.();
  const { main } = await import("./cli.js");
  await main(process.argv.slice(2));
}
