import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A line to a server that a test can freeze: what is sent then comes nowhere, and nobody is told. */
export async function line(url: string): Promise<{ url: string; freeze(): void; thaw(): void; cut(): void }> {
  const server = new URL(url);
  const sockets = new Set<Socket>();
  let frozen = false;
  const proxy = createServer((near) => {
    const far = dial({ host: server.hostname, port: Number(server.port) });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      if (frozen) from.pause();
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", () => {}); // "close" follows
      from.once("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = `${(proxy.address() as AddressInfo).port}`;
  return {
    url: through.href,
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
  };
}
