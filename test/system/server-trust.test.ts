// With CloseExpiredClients a connection lasts no longer than the trust it was let in by; without, as long as the client likes.
import { equal } from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { systemClock } from "../../src/base/lib/index.ts";
import {
  type CertifiedKey,
  parseTlsMaterial,
  renewCertificate,
  type TlsMaterial,
  tlsPolicy,
} from "../../src/base/security/index.ts";
import { clientNames, testAuthority } from "../kit/certificates.ts";
import { eventually, serve } from "../kit/serving.ts";

const [own, other] = [testAuthority("own"), testAuthority("other")];
const hourMs = 3_600_000;

/** What a server loads that lets in whoever these authorities have signed. */
function trusting(...authorities: (typeof own)[]): TlsMaterial {
  const { certPem: cert, keyPem: key } = serverPair;
  return parseTlsMaterial({ cert, key, ca: authorities.map(({ pair }) => pair.certPem).join("") });
}
const serverPair = own.server();

/** A pair as a node sends it whose issuer is not in anybody's CA file: `steps` CAs, each made by the one before. */
function through(steps: number): CertifiedKey {
  let [above, sent] = [own, ""];
  for (let step = 1; step <= steps; step++) {
    const next = testAuthority(`step ${step}`);
    sent = renewCertificate({ authority: above.pair, ...next.pair, nowMs: Date.now() }).certPem + sent;
    above = next;
  }
  const { certPem, keyPem } = above.client();
  return { certPem: certPem + sent, keyPem };
}

type Change = { name: string; laterMs: number; trusts: (typeof own)[]; ended: string[] };
const indirect = ["through one more CA", "through two more CAs"];
const changes: Change[] = [
  { name: "nothing has changed", laterMs: 0, trusts: [own, other], ended: [] },
  { name: "a CA is gone", laterMs: 0, trusts: [own], ended: ["of the other CA"] },
  { name: "the other CA is gone", laterMs: 0, trusts: [other], ended: ["for an hour", "lasting", ...indirect] },
  { name: "a certificate has expired", laterMs: 2 * hourMs, trusts: [own, other], ended: ["for an hour"] },
];

describe("connections that have lost their trust", () => {
  for (const endsUntrusted of [true, false]) {
    for (const { name, laterMs, trusts, ended } of changes) {
      const expected = endsUntrusted ? ended : [];
      test(`${endsUntrusted ? "ended" : "kept"}: ${name}`, async () => {
        let aheadMs = 0;
        const clock = { ...systemClock, wallMs: () => Date.now() + aheadMs };
        const requirement = { commonName: clientNames.commonName };
        const tls = { material: trusting(own, other), policy: tlsPolicy(), requirement, endsUntrusted };
        // The clients never say hello, and must not be ended for that.
        await using server = await serve({ tls, clock, limits: { handshakeTimeoutMs: hourMs } });
        const pairs = {
          "for an hour": own.client({ notAfterMs: Date.now() + hourMs }),
          "of the other CA": other.client(),
          lasting: own.client(),
          "through one more CA": through(1),
          "through two more CAs": through(2),
        };
        const clients = new Map<string, TLSSocket>();
        for (const [says, { certPem: cert, keyPem: key }] of Object.entries(pairs)) {
          const options = { port: server.address.port, host: "127.0.0.1", ca: own.pair.certPem, cert, key };
          const client = connect({ ...options, servername: "calico-typha" });
          client.on("error", () => undefined).resume(); // ended by the server, in some of the cases
          await once(client, "secureConnect");
          clients.set(says, client);
        }
        await eventually(() => server.activeCount === clients.size, "all let in");
        aheadMs = laterMs;
        server.setTlsMaterial(trusting(...trusts)); // also makes it look at once, and not within seconds
        await eventually(() => server.activeCount === clients.size - expected.length, `ended: ${expected.join()}`);
        for (const says of expected) await closed(clients.get(says));
        for (const [says, client] of clients) equal(client.closed, expected.includes(says), says);
        for (const client of clients.values()) client.destroy();
      });
    }
  }
});

async function closed(client: TLSSocket | undefined): Promise<void> {
  if (client !== undefined && !client.closed) await once(client, "close");
}
