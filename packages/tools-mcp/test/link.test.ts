import { expect, test } from "vitest";
import { parseMcpServers } from "../src/index.js";
import { loadSdk, openLink } from "../src/link.js";

test("over HTTP: however much a server asks, no more than a hundred answers are on their way", async () => {
  const [settings] = parseMcpServers({ mcpServers: { s: { url: "https://mcp.example/" } } });
  const sent: (() => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => sent.push(() => resolve(new Response(null, { status: 202 }))));
  const link = openLink(await loadSdk(), "s", settings?.reach as never, { fetch });
  await link.transport.start();
  const answers = Array.from({ length: 500 }, (_, id) => link.transport.send({ jsonrpc: "2.0", id, result: {} }));
  while (sent.length < 100) await new Promise((resolve) => setTimeout(resolve, 1));
  await Promise.all(answers.slice(100)); // left out
  expect(sent).toHaveLength(100);
  for (const answer of sent.splice(0)) answer();
  await Promise.all(answers);
  const later = link.transport.send({ jsonrpc: "2.0", id: 500, result: {} });
  while (sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  sent[0]?.();
  await later;
  await link.transport.close();
});
