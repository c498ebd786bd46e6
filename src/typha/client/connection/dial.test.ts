import { match, ok } from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { certificateFolder } from "../../../../test/kit/certificates.ts";
import { freePort } from "../../../../test/kit/free-port.ts";
import { CattailError, systemClock } from "../../../base/lib/index.ts";
import { dial } from "./dial.ts";

async function refusalOf(port: number, { isPlain = false, code = "CLIENT_DIAL" } = {}): Promise<string> {
  using folder = certificateFolder();
  const tls = isPlain ? undefined : { ...folder.client, server: { commonName: "calico-typha" } };
  const options = { tls, dialTimeoutMs: 10_000, clock: systemClock };
  const error: unknown = await dial({ host: "127.0.0.1", port }, options, new AbortController().signal).catch((e) => e);
  ok(error instanceof CattailError && error.code === code, String(error));
  return error.next;
}

test("where nobody listens, that is what to look at", async () => {
  match(await refusalOf(await freePort()), /^Check that the server listens there; .*\d" with the same certificates/);
});

test("without TLS nobody is sent to look for certificates", async () => {
  match(
    await refusalOf(await freePort(), { isPlain: true }),
    /^Check that the server listens there; "cattail doctor --server 127\.0\.0\.1:\d+ --plaintext" checks it step by step$/,
  );
});

test("where somebody listens and hangs up, TLS and the certificates are what to look at", async () => {
  await using server = createServer((socket) => socket.resume().end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  match(
    await refusalOf(port, { code: "CLIENT_TLS_MISMATCH" }),
    /has TLS at this port, and the certificates of both sides; .*same cert/,
  );
});
