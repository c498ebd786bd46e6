import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { addressesView } from "./addresses.ts";

const block = "/calico/ipam/v2/assignment/ipv4/block/10.65.0.0-30";
const stored: { [path: string]: unknown } = {
  "/calico/v1/ipam/v4/pool/10.65.0.0-16": { cidr: "10.65.0.0/16", vxlan_mode: "cross-subnet", masquerade: true },
  "/calico/v1/ipam/v4/pool/10.66.0.0-16": { cidr: "10.66.0.0/16", disabled: true },
  [block]: {
    cidr: "10.65.0.0/30",
    affinity: "host:n1",
    allocations: [0, 1, 2, null],
    attributes: [
      { handle_id: "a", secondary: { pod: "web", namespace: "shop", node: "n1" } },
      { handle_id: "b", secondary: { pod: "gone", namespace: "shop", node: "n1" } },
      { handle_id: "c", secondary: { type: "vxlanTunnelAddress", node: "n1" } },
    ],
  },
  "/calico/ipam/v2/assignment/ipv4/block/10.65.0.4-30": { cidr: "10.65.0.4/30", allocations: [null, null, null, null] },
  "/calico/v1/host/n1/workload/k8s/shop%2fweb/endpoint/eth0": { ipv4_nets: ["10.65.0.0/32"] },
  "/calico/v1/ipam/v4/pool/broken": "no JSON",
};
const keys = {
  get: () => undefined,
  paths: () => [],
  *withPrefix(prefix: string) {
    for (const [path, value] of Object.entries(stored))
      if (path.startsWith(prefix)) yield { path, value: typeof value === "string" ? value : JSON.stringify(value) };
  },
};

test("pools have the use of their blocks, blocks their node, and an address of a pod that is not there is told", () => {
  deepEqual(addressesView(keys), {
    pools: [
      {
        cidr: "10.65.0.0/16",
        encapsulation: "VXLAN cross-subnet",
        isDisabled: false,
        natOutgoing: true,
        size: "65536",
        blocks: 2,
        used: 3,
      },
      {
        cidr: "10.66.0.0/16",
        encapsulation: "none",
        isDisabled: true,
        natOutgoing: false,
        size: "65536",
        blocks: 0,
        used: 0,
      },
    ],
    blocks: [
      { path: block, cidr: "10.65.0.0/30", node: "n1", size: 4, used: 3 },
      {
        path: "/calico/ipam/v2/assignment/ipv4/block/10.65.0.4-30",
        cidr: "10.65.0.4/30",
        node: null,
        size: 4,
        used: 0,
      },
    ],
    blockTotal: 2,
    // A tunnel's address has no pod, and is none of this page's business.
    inVain: [{ address: "10.65.0.1", pod: "shop/gone", node: "n1" }],
    inVainTotal: 1,
  });
});
