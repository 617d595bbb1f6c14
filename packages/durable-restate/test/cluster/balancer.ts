import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Passes connections on to the ports that are there, in turn. */
export async function balancer(): Promise<{ url: string; ports: number[]; close(): Promise<void> }> {
  const ports: number[] = [];
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((from) => {
    const port = ports[next++ % Math.max(1, ports.length)];
    if (port === undefined) {
      from.destroy();
      return;
    }
    const to = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ports,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
