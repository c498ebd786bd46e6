// A way from a network namespace to a server on this machine's loopback: the same port inside, bytes passed on outside.
import { connect, createServer, type Socket } from "node:net";
import { inNamespace } from "../../../src/base/linux/kernel.ts";

export function openDoor(namespace: string, port: number): Disposable {
  const inside = new Set<Socket>();
  const server = createServer((socket) => {
    const outer = connect({ host: "127.0.0.1", port });
    inside.add(socket);
    for (const each of [socket, outer]) {
      each.on("error", () => socket.destroy()); // either side may leave when it likes
      each.on("close", () => (each === socket ? outer : socket).destroy());
    }
    socket.on("close", () => inside.delete(socket));
    socket.pipe(outer).pipe(socket);
  });
  // Without a host Node binds at once, and so inside; with one it would look the name up first.
  inNamespace(namespace, () => server.listen(port));
  return {
    [Symbol.dispose]() {
      server.close();
      for (const socket of inside) socket.destroy();
    },
  };
}
