// Campaign: malformed TLS and hello streams. The server lives, serves, and gets its descriptors back.
// Whole: npm run campaign:malformed (100,000 streams).
import { equal } from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { startCattail } from "../../bench/fanout/subjects.ts";
import { say, size } from "../kit/campaign.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { GoClients, withoutGoClient } from "../kit/go-clients.ts";
import { openFiles, withoutProc } from "../kit/process-facts.ts";
import { seededRandom } from "../kit/random.ts";

const streams = size({ short: 2000, long: 100_000 });
const parallel = 50;

// A real client's first bytes, to be damaged: for plain TCP a gob hello (spec'd by Go's encoder), for TLS a client hello.
const gobHello = Buffer.from(
  "217f0301010841656e76656c6f706501ff8000010101074d65737361676501100000ff" +
    "f9ff80013b6769746875622e636f6d2f70726f6a65637463616c69636f2f74797068612f706b672f73796e6370726f746f2e4d7367436c69656e7448656c6c6f",
  "hex",
);
const tlsHello = Buffer.from(
  "16030100c8010000c40303000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff" +
    "00081302130313 01c02b0100007300000018001600001365".replace(" ", ""),
  "hex",
);

function malformed(seed: number, kind: "tls" | "plain"): Buffer {
  const { below } = seededRandom(seed);
  const real = kind === "tls" ? tlsHello : gobHello;
  const how = below(5);
  if (how === 0) return Buffer.from(Array.from({ length: 1 + below(2000) }, () => below(256)));
  if (how === 1) return real.subarray(0, 1 + below(real.length));
  const copy = Buffer.from(real);
  for (let flips = 0; flips <= below(8); flips += 1) copy[below(copy.length)] = below(256);
  if (how === 2) return copy;
  if (how === 3) return Buffer.concat([copy, copy, Buffer.alloc(below(5000), below(256))]);
  // A length field at a power of two, give or take one.
  const length = 2 ** below(32) + below(3) - 1;
  const prefix = Buffer.alloc(5);
  prefix[0] = kind === "tls" ? 0x16 : 0xfc;
  prefix.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([prefix, copy]);
}

for (const kind of ["plain", "tls"] as const) {
  test(`${streams} malformed ${kind} streams`, { skip: withoutGoClient || withoutProc }, async () => {
    using folder = certificateFolder();
    const tls =
      kind === "plain"
        ? undefined
        : { ca: folder.server.caFile, cert: folder.server.certFile, key: folder.server.keyFile };
    const { caFile, certFile, keyFile } = folder.client;
    const flags = kind === "plain" ? [] : ["--ca", caFile, "--cert", certFile, "--key", keyFile];
    await using server = await startCattail({ workers: 1, tls });
    await server.setInSync();
    await using before = new GoClients({ address: server }, [...flags, "--until-in-sync"]);
    equal(await before.exited, 0, before.stderr);
    const baseline = openFiles(server.pid);
    let next = 0;
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        while (next < streams) {
          next += 1;
          await send(server.port, malformed(next, kind));
        }
      }),
    );
    await using after = new GoClients({ address: server }, [...flags, "--until-in-sync"]);
    equal(await after.exited, 0, after.stderr);
    await eventually(
      () => openFiles(server.pid) <= baseline,
      () => `${openFiles(server.pid)} files, ${baseline} before`,
    );
    say(kind, { streams, rssMb: server.use().rssMb }, 1);
  });
}

/** Sends and hangs up: what the server makes of it by then is its own affair. */
function send(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
    socket.resume();
    socket.end(bytes);
  });
}
