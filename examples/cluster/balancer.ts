import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Passes connections on to the ports in turn: what a load balancer does. */
export async function balancer(ports: readonly number[]): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((from) => {
    const to = connect(ports[next++ % ports.length] ?? 0, "127.0.0.1");
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on("error", () => undefined); // "close" follows
      socket.on("close", () => {
        from.destroy();
        to.destroy();
        sockets.delete(socket);
      });
    }
    from.pipe(to).pipe(from);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
