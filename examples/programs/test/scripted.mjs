// Loaded before a program that is tested: what it sends to a model's public address goes to the test's own server.
import process from "node:process";

const real = globalThis.fetch;
globalThis.fetch = (input, init) =>
  real(
    String(input).replace(
      /^https:\/\/(api\.(anthropic|openai)\.com|openrouter\.ai\/api)/,
      process.env.SCRIPTED_SERVER ?? "",
    ),
    init,
  );
