// The scripted model server, a process of its own: speaks the three wires. What it answers is the first part of the path,
// e.g. http://127.0.0.1:PORT/text-500/v1/messages; scripts with a state are made by a message {script, make, args}.
import { createServer } from "node:http";
import { tokensOf } from "./tokens.mjs";
import { WIRES } from "./wires.mjs";

const scripts = new Map();
const usageOf = (output) => ({ input: 9, output, cacheRead: 0, cacheWrite: 0 });

/** `text-N`: an answer of N tokens. */
function textScript(count) {
  const text = Array.from({ length: count }, (_, i) => ` word${i % 10}`);
  return { answer: () => ({ answer: { text, calls: [] }, usage: usageOf(count) }) };
}

function scriptOf(name) {
  const known = scripts.get(name);
  if (known) return known;
  const text = /^text-(\d+)$/.exec(name);
  if (!text) throw new Error(`There is no script "${name}".`);
  scripts.set(name, textScript(Number(text[1])));
  return scripts.get(name);
}

/** The bytes of answers that never change are made once: what is measured is the client. */
const made = new Map();
function eventsOf(name, wire, { answer, usage }, model) {
  const key = /^text-/.test(name) ? `${name} ${wire} ${model}` : undefined;
  const known = key && made.get(key);
  if (known) return known;
  const events = Array.from(WIRES[wire].events(answer, usage, model), (event) => Buffer.from(event));
  if (key) made.set(key, events);
  return events;
}

const server = createServer(async (request, response) => {
  try {
    const { pathname } = new URL(request.url, "http://host");
    const [, name] = pathname.split("/");
    const wire = Object.keys(WIRES).find((each) => pathname.endsWith(WIRES[each].path));
    if (wire === undefined) return response.writeHead(404).end("{}");
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const told = await scriptOf(decodeURIComponent(name)).answer(wire, body);
    const headers = { "content-type": "text/event-stream", "cache-control": "no-cache", "request-id": "req_1" };
    response.writeHead(200, { ...headers, "x-request-id": "req_1" });
    // A write for each event, with the client's turn between them, as a model's tokens come.
    for (const event of eventsOf(decodeURIComponent(name), wire, told, body.model)) {
      response.write(event);
      await new Promise(setImmediate);
    }
    response.end();
  } catch (fault) {
    process.send?.({ fault: fault.stack });
    response
      .writeHead(500, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: `${fault}` } }));
  }
});

process.on("message", async (message) => {
  if (message.script) {
    const { make } = await import(message.module);
    scripts.set(message.script, make(message.args, { tokensOf }));
    process.send({ made: message.script });
  } else if (message.take) {
    process.send({ taken: scripts.get(message.take)?.records?.() ?? [] });
  }
});
process.on("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
