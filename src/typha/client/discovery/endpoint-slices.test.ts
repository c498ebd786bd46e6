import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { addressesOf } from "./endpoint-slices.ts";

const port = [{ name: "calico-typha", port: 5473 }];
const endpoint = (address: string, extra: object = {}) => ({ addresses: [address], ...extra });
const firstFirst = () => 0.999; // leaves the order as it is

const cases: { name: string; slices: unknown[]; localNode?: string; hosts: string[] }[] = [
  {
    name: "every ready address counts",
    slices: [{ ports: port, endpoints: [endpoint("10.0.0.1"), endpoint("fd00::1")] }],
    hosts: ["10.0.0.1", "fd00::1"],
  },
  {
    name: "no word on readiness is ready, an explicit no is not",
    slices: [
      {
        ports: port,
        endpoints: [endpoint("10.0.0.1", { conditions: {} }), endpoint("10.0.0.2", { conditions: { ready: false } })],
      },
    ],
    hosts: ["10.0.0.1"],
  },
  {
    name: "the port is found by its name",
    slices: [
      { ports: [{ name: "metrics", port: 1 }], endpoints: [endpoint("10.0.0.1")] },
      { ports: port, endpoints: [endpoint("10.0.0.2")] },
    ],
    hosts: ["10.0.0.2"],
  },
  {
    name: "our own node comes first",
    slices: [
      { ports: port, endpoints: [endpoint("10.0.0.1", { nodeName: "x" }), endpoint("10.0.0.2", { nodeName: "me" })] },
    ],
    localNode: "me",
    hosts: ["10.0.0.2", "10.0.0.1"],
  },
  {
    name: "what is no slice is passed over",
    slices: [null, 42, { ports: "x", endpoints: {} }, { ports: port, endpoints: [null, { addresses: [7] }] }],
    hosts: [],
  },
  {
    name: "what nobody can connect to is passed over",
    slices: [
      { ports: [{ name: "calico-typha", port: 0 }], endpoints: [endpoint("10.0.0.1")] },
      { ports: [{ name: "calico-typha", port: 65_536 }], endpoints: [endpoint("10.0.0.2")] },
      { ports: port, endpoints: [endpoint("")] },
    ],
    hosts: [],
  },
];

for (const { name, slices, localNode, hosts } of cases) {
  test(`discovery: ${name}`, () => {
    const found = addressesOf(slices, { random: firstFirst, ...(localNode === undefined ? {} : { localNode }) });
    deepEqual(
      found.map(({ host }) => host),
      hosts,
    );
  });
}
