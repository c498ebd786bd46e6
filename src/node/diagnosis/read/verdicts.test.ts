// Which address the packets of a node itself have on their way to a pod.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Encapsulation } from "../facts.ts";
import type { WholeCluster } from "../families.ts";
import { tunnelSource } from "./verdicts.ts";

function clusterWith(vxlan: Encapsulation): WholeCluster {
  const node = (name: string, own: number) => ({
    name,
    internalAddresses: [],
    addresses: { 4: `172.31.0.${own}/24` },
    tunnelAddresses: { 4: `10.244.${own}.0` },
  });
  return {
    datastoreReady: true,
    nodes: [node("n1", 1), node("n2", 2)],
    pools: [{ name: "pool", cidr: "10.244.0.0/16", vxlan, ipip: "Never", isDisabled: false }],
    blocks: [],
    affinities: [],
    pods: [],
    isMeshOn: true,
    serviceRanges: [],
    unreadable: [],
  };
}

const toPod = { from: "n1", to: "n2", address: "10.244.2.5" };

test("a node's packets to a pod elsewhere have its tunnel's address where they go by the tunnel", () => {
  equal(tunnelSource(toPod, clusterWith("Always")), "10.244.1.0");
  deepEqual(
    [
      tunnelSource(toPod, clusterWith("Never")),
      tunnelSource(toPod, clusterWith("CrossSubnet")), // of one subnet
      tunnelSource({ ...toPod, to: "n1" }, clusterWith("Always")),
      tunnelSource({ ...toPod, address: "192.0.2.1" }, clusterWith("Always")),
    ],
    [undefined, undefined, undefined, undefined],
  );
});
