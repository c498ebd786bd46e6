// What peers are sent is what OpenSSL would have sent by itself.
import { deepEqual, equal } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { connect, createServer, type DetailedPeerCertificate } from "node:tls";
import { testAuthority } from "../../../../test/kit/certificates.ts";
import { certificatesInPem } from "../certificates/pem.ts";
import { sentChain } from "./sent-chain.ts";

const authority = testAuthority();
const other = testAuthority("Another CA");
const leaf = authority.server();
const root = authority.pair.certPem;

describe("a server sends", () => {
  test("its certificate and the root that issued it, whichever of the CA file that is", () => {
    deepEqual(names(sentChain({ cert: leaf.certPem, ca: other.pair.certPem + root })), [
      "CN=calico-typha",
      "CN=Test CA",
    ]);
  });

  test("its certificate alone where no CA of the file issued it, or where there is no CA", () => {
    equal(sentChain({ cert: leaf.certPem, ca: other.pair.certPem }), leaf.certPem);
    equal(sentChain({ cert: leaf.certPem, ca: "" }), leaf.certPem);
  });

  test("a file with more than its own certificate as it is", () => {
    const cert = leaf.certPem + other.pair.certPem;
    equal(sentChain({ cert, ca: root }), cert);
  });

  test("a certificate that is its own issuer alone", () => {
    equal(sentChain({ cert: root, ca: root }), root);
  });

  test("what OpenSSL sends by itself", async () => {
    const ca = other.pair.certPem + root;
    const alone = await shown({ cert: leaf.certPem, ca });
    const made = await shown({ cert: sentChain({ cert: leaf.certPem, ca }), ca });
    equal(made.length, 2);
    deepEqual(made, alone);
  });
});

/** The chain as a client gets it that has no CA of its own to add. */
async function shown({ cert, ca }: { cert: string; ca: string }): Promise<string[]> {
  const server = createServer({ cert, key: leaf.keyPem, ca }, (socket) => socket.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ca: [] });
  await once(client, "secureConnect");
  const chain: string[] = [];
  let at: DetailedPeerCertificate | undefined = client.getPeerCertificate(true);
  while (at?.raw !== undefined) {
    chain.push(at.fingerprint256);
    at = at.issuerCertificate === at ? undefined : at.issuerCertificate;
  }
  client.destroy();
  server.close();
  return chain;
}

function names(pem: string): string[] {
  return certificatesInPem(pem).map((der) => new X509Certificate(der).subject);
}
