import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { otherServers } from "./other-servers.ts";

const own = { hosts: new Set(["10.0.0.1", "::1"]), port: 5473 };
const listed = (host: string, more: { port?: number; isReady?: boolean } = {}) => ({
  host,
  port: 5473,
  isReady: true,
  ...more,
});

const cases: { name: string; peers?: ReturnType<typeof listed>[]; peerAddresses?: string[]; expected: string[] }[] = [
  { name: "nobody is known", expected: [] },
  { name: "we ourselves are listed", peers: [listed("10.0.0.1")], expected: [] },
  { name: "a peer is listed", peers: [listed("10.0.0.1"), listed("10.0.0.2")], expected: ["10.0.0.2 5473"] },
  { name: "a peer is not ready", peers: [listed("10.0.0.2", { isReady: false })], expected: [] },
  { name: "a peer on our machine", peers: [listed("10.0.0.1", { port: 5474 })], expected: ["10.0.0.1 5474"] },
  { name: "a peer is configured", peerAddresses: ["typha-b:5473"], expected: ["typha-b 5473"] },
  {
    name: "an IPv6 address, which is dialled without its brackets",
    peerAddresses: ["[fd00::2]:5473"],
    expected: ["fd00::2 5473"],
  },
  { name: "we ourselves are configured", peerAddresses: ["10.0.0.1:5473", "[::1]:5473"], expected: [] },
];
for (const { name, peers = [], peerAddresses = [], expected } of cases) {
  test(`other servers: ${name}`, () => {
    const found = otherServers({ settings: { peerAddresses }, service: { peers: () => peers }, own });
    deepEqual(
      found.map(({ host, port }) => `${host} ${port}`),
      expected,
    );
  });
}
