import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { wholeBodies } from "../src/adapter.js";

/** What the server does with the next response; the connection stays open unless it ends it. */
let respond: (response: ServerResponse) => void = () => {};
const server = createServer((_, response) => respond(response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const says = (status: number, type: string, text: string, then: (response: ServerResponse) => void = () => {}) => {
  respond = (response) => {
    response.writeHead(status, { "content-type": type, "x-kept": "yes" });
    response.write(text, () => then(response));
  };
};

describe("wholeBodies", () => {
  it("has the body of an error, whole or as far as it came", async () => {
    const ask = wholeBodies({ idleTimeoutMs: 50 });
    says(500, "application/json", '{"error":1}', (response) => response.end());
    const whole = await ask(url);
    expect([whole.status, whole.headers.get("x-kept"), await whole.text()]).toEqual([500, "yes", '{"error":1}']);
    says(529, "text/plain", "busy, and th"); // the rest never comes
    const stalled = await ask(url);
    expect([stalled.status, await stalled.text()]).toEqual([529, "busy, and th"]);
    says(503, "text/plain", "no", (response) => response.destroy());
    const broken = await ask(url);
    expect(broken.status).toBe(503);
  });

  it("ends JSON that stops in a time limit", async () => {
    says(200, "application/json", '{"choices":[');
    await expect(wholeBodies({ idleTimeoutMs: 50 })(url)).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("ends JSON that breaks with what broke it", async () => {
    says(200, "application/json", '{"choices":[', (response) => response.destroy());
    await expect(wholeBodies({})(url)).rejects.toThrow();
  });

  it("lets streams pass as they are", async () => {
    says(200, "text/event-stream", "data: 1\n\n");
    const response = await wholeBodies({ idleTimeoutMs: 20 })(url);
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
    await reader?.cancel();
  });

  it("ends with the signal, also where the fetch of one's own does not heed it", async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array([123])) });
    const deaf = async () => new Response(body, { status: 500 });
    const controller = new AbortController();
    const response = wholeBodies({ fetch: deaf })(url, { signal: controller.signal });
    controller.abort();
    expect((await response).status).toBe(500);
  });

  it("lets a status that no response can be made of pass as it is", async () => {
    says(999, "text/plain", "no", (response) => response.end());
    expect((await wholeBodies({})(url)).status).toBe(999);
    const strange = {
      ok: false,
      status: 304,
      body: new ReadableStream(),
      headers: new Headers(),
    } as unknown as Response;
    expect(await wholeBodies({ fetch: async () => strange })(url)).toBe(strange);
  });

  it("does not read the body of an error without end", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const response = await wholeBodies({ fetch: async () => new Response(endless, { status: 500 }) })(url);
    expect((await response.arrayBuffer()).byteLength).toBeLessThan(2 << 20);
    expect(sent).toBeLessThan(3 << 20);
  });
});
