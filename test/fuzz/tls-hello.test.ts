// Bent client hellos, with every extension that a callback of a TLS server could be called for (server name, application
// protocols, resumption): the server, in this very process, lives and lets a good client in. An exception that a callback
// throws would end the process, and this test with it.
import { equal } from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { testAuthority } from "../kit/certificates.ts";
import { type Random, seededRandom, testSeed } from "../kit/random.ts";
import { serve, type TestServer } from "../kit/serving.ts";

const authority = testAuthority();
const count = 400;
const parallel = 20;
const hellos: { name: string; options: ConnectionOptions }[] = [
  { name: "TLS 1.3 with names and protocols", options: { ALPNProtocols: ["cattail-fresh", "h2", "x".repeat(200)] } },
  { name: "TLS 1.2 with names and protocols", options: { ALPNProtocols: ["http/1.1"], maxVersion: "TLSv1.2" } },
  { name: "a long server name", options: { servername: `${"a".repeat(60)}.example` } },
];

const seed = testSeed();

describe("bent client hellos", () => {
  let server: TestServer;
  before(async () => {
    server = await serve({ tls: authority.serverTls() });
    server.status(2);
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [index, { name, options }] of hellos.entries()) {
    test(`${count} of: ${name}`, async () => {
      const hello = await firstFlight({ servername: "calico-typha", ...options });
      const random = seededRandom(seed + index);
      const bent = Array.from({ length: count }, () => bend(hello, random));
      const next = bent.values();
      const work = async () => {
        for (const bytes of next) await send(server.address.port, bytes);
      };
      await Promise.all(Array.from({ length: parallel }, work));
      equal(
        await isLetIn(server.address.port),
        true,
        `after bending ${hello.toString("hex")} with CATTAIL_SEED=${seed}`,
      );
    });
  }
});

/** What Node's own client sends first. */
async function firstFlight(options: ConnectionOptions): Promise<Buffer> {
  await using listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo; // it listens on TCP
  const client = connectTls({ host: "127.0.0.1", port, ...options });
  client.on("error", () => undefined); // it is never answered
  const [socket] = await once(listener, "connection");
  const [bytes] = await once(socket, "data");
  client.destroy();
  socket.destroy();
  return bytes;
}

/** Some bytes changed, behind the record's own lengths, so that the hello is read and not refused at once. */
function bend(hello: Buffer, random: Random): Buffer {
  const copy = Buffer.from(hello);
  const headers = 9; // of the record and of the handshake message
  const changes = 1 + random.below(4);
  for (let change = 0; change < changes; change += 1) {
    const at = headers + random.below(copy.length - headers);
    copy[at] = random.isOneIn(2) ? random.below(256) : (copy[at] ?? 0) ^ (1 << random.below(8));
  }
  return copy;
}

/** Sends, and waits until the server has judged it or, where it wants more, hangs up. */
function send(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined); // cut off, which is one way to judge
    socket.on("close", () => resolve());
    socket.once("data", () => socket.destroy());
    socket.end(bytes);
  });
}

async function isLetIn(port: number): Promise<boolean> {
  const { certPem: cert, keyPem: key } = authority.client();
  const options = { host: "127.0.0.1", port, ca: authority.pair.certPem, cert, key, servername: "calico-typha" };
  const client = connectTls(options);
  const secured = await new Promise<boolean>((resolve) => {
    client.on("secureConnect", () => resolve(true));
    client.on("error", () => resolve(false));
  });
  client.destroy();
  return secured;
}
