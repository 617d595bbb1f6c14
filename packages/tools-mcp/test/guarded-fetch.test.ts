import { expect, test } from "vitest";
import { guardedFetch } from "../src/guarded-fetch.js";

test.each([
  ["https://mcp.example/mcp", "https://auth.example/x", true],
  ["https://mcp.example/mcp", "https://mcp.example/x", true],
  ["https://mcp.example/mcp", "http://mcp.example/x", false],
  ["https://mcp.example/mcp", "https://10.0.0.1/x", false],
  ["https://mcp.example/mcp", "https://localhost./x", false],
  ["https://mcp.corp.internal/mcp", "https://auth.corp.internal/x", true],
  ["https://mcp.corp.internal/mcp", "http://169.254.169.254/x", false],
  ["http://127.0.0.1:3000/mcp", "http://localhost:4000/x", true],
  ["http://127.0.0.1:3000/mcp", "http://10.0.0.1/x", false],
])("a server at %s, which names %s for its sign-in: %s", async (own, named, reached) => {
  const asked: unknown[] = [];
  const fetch = guardedFetch(new URL(own), async (input) => {
    asked.push(input);
    return new Response();
  });
  for (const input of [named, new URL(named), new Request(named)])
    expect(
      await fetch(input).then(
        () => true,
        () => false,
      ),
    ).toBe(reached);
  expect(asked).toHaveLength(reached ? 3 : 0);
});
