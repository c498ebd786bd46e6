// Everything that a server sends arrives once and in order, however it is cut, while its reader takes its time.
import { deepEqual, equal, ok } from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { testAuthority } from "../../../../test/kit/certificates.ts";
import { systemClock } from "../../../base/lib/index.ts";
import { Arrivals } from "./arrivals.ts";
import { Inbox } from "./inbox.ts";

/** As a socket does it: into its one buffer, then the callback. */
function arrive(arrivals: Arrivals, text: string): boolean {
  const { buffer, callback } = arrivals.onread;
  ok(buffer instanceof Uint8Array);
  return callback(Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length).write(text), buffer);
}

test("what arrives in a row is taken together, once", () => {
  const arrivals = new Arrivals();
  equal(arrivals.take(), undefined);
  for (const text of ["one ", "two ", "three"]) equal(arrive(arrivals, text), false, "the socket is to stop");
  equal(arrivals.take()?.toString(), "one two three");
  equal(arrivals.take(), undefined);
  arrive(arrivals, "four");
  equal(arrivals.take()?.toString(), "four");
});

test("whatever a socket reads at once finds room", () => {
  const arrivals = new Arrivals();
  const records = Array.from({ length: 6 }, (_, index) => String(index).repeat(60_000));
  for (const record of records) arrive(arrivals, record);
  equal(arrivals.take()?.toString(), records.join(""));
});

const sent = Buffer.from(Uint32Array.from({ length: 1 << 20 }, (_, index) => Math.imul(index, 0x9e37_79b1)).buffer);
const pair = testAuthority().server();
const tlsOptions = { cert: pair.certPem, key: pair.keyPem };
const servers: { name: string; listen: (serve: (socket: Socket) => void) => ReturnType<typeof createTcpServer> }[] = [
  { name: "TCP", listen: (serve) => createTcpServer(serve) },
  { name: "TLS", listen: (serve) => createTlsServer(tlsOptions, serve) },
];
for (const { name, listen } of servers) {
  test(`4 MiB over ${name} arrive whole, and then the end, though each read is waited for`, async () => {
    const server = listen((socket) => {
      socket.on("error", () => undefined); // the reader hears of it as an end, and the bytes tell
      socket.end(sent);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // a listening TCP server has one
    const arrivals = new Arrivals();
    const target = { host: "127.0.0.1", port, onread: arrivals.onread };
    const socket = name === "TLS" ? connectTls({ ...target, rejectUnauthorized: false }) : connectTcp(target);
    await once(socket, name === "TLS" ? "secureConnect" : "connect");
    const inbox = new Inbox(socket, systemClock, arrivals);
    const chunks: Buffer[] = [];
    for (let chunk = await inbox.next(60_000); chunk !== "end"; chunk = await inbox.next(60_000)) {
      ok(chunk !== "timeout");
      for (let turn = 0; turn < 3; turn += 1) await nextTurn(); // nothing may be written to it meanwhile
      chunks.push(Buffer.from(chunk));
    }
    inbox.close();
    socket.destroy();
    server.close();
    deepEqual(Buffer.concat(chunks).equals(sent), true);
  });
}
