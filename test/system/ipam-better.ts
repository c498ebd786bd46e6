// Where calico-ipam of Cattail does better than the recordings on purpose: what it answers and stores instead, as a change of what was
// recorded (null removes). The rest of each case is compared as it is.
import type { JsonRecord } from "../../src/base/lib/index.ts";
import type { Played, StoreKind } from "../kit/ipam-cases/case.ts";
import { merged } from "../kit/ipam-cases/case-store.ts";

type Change = {
  readonly steps?: { readonly [at: number]: JsonRecord };
  /** Answers that take the place of the recorded ones. */
  readonly instead?: { readonly [at: number]: Played["steps"][number] };
  readonly store?: JsonRecord;
};
type Better = { readonly [kind in StoreKind]?: Change };

export function betterThan(name: string, kind: StoreKind, { steps, store }: Played): Played {
  const change = better[name]?.[kind] ?? {};
  return {
    steps: steps.map(({ rc, out }, at) => change.instead?.[at] ?? { rc, out: changed(out, change.steps?.[at]) }),
    store: merged(store, change.store ?? {}),
  };
}

function changed(out: unknown, change: JsonRecord | undefined): unknown {
  return change === undefined ? out : merged(out as JsonRecord, change); // a case's answer is changed only where it is an object
}

const addressed = (cidr: string) => ({ ips: [{ address: cidr }], routes: [{ dst: cidr }] });
const attribute = (secondary: object) => ({ handle_id: "k8s-pod-network.c1", secondary });
const ofPod = attribute({ namespace: "default", node: "n1", pod: "p1", timestamp: "$NOW" });
const written = { metadata: { annotations: { "projectcalico.org/metadata": "{}" } } };

const heldOnce = {
  allocations: { "1": null },
  attributes: [ofPod],
  sequenceNumberForAllocation: { "0": "$S-1", "1": null },
  unallocated: "1-63",
};
const freed = { unallocated: "1-63 0" };
const countedOnce = { block: { "10.244.59.128/26": 1 } };

const holderOf = (number: number) => ({
  handle_id: `k8s-pod-network.c${number}`,
  secondary: { namespace: "default", node: "n1", pod: `p${number}`, timestamp: "$NOW" },
});

const better: { readonly [name: string]: Better } = {
  // 1.1.0 is spoken, for STATUS and GC; so that ADD takes an address, too.
  "cni-versions": {
    kubernetes: {
      instead: {
        6: { rc: 0, out: { cniVersion: "1.1.0", ...addressed("10.244.59.134/26") } },
        7: {
          rc: 0,
          out: { cniVersion: "0.1.0", dns: {}, ip4: { ip: "10.244.59.135/26", routes: [{ dst: "10.244.59.135/26" }] } },
        },
      },
      store: {
        "IPAMBlock/10-244-59-128-26": {
          spec: {
            allocations: { "7": 7 },
            attributes: [0, 1, 2, 3, 4, 5, 6, 9].map(holderOf),
            sequenceNumberForAllocation: Object.fromEntries([8, 7, 6, 5, 4, 3, 2, 1].map((n, at) => [at, `$S-${n}`])),
            unallocated: "8-63",
          },
        },
        "IPAMHandle/k8s-pod-network.c6": {
          ...written,
          spec: { block: { "10.244.59.128/26": 1 }, deleted: false, handleID: "k8s-pod-network.c6" },
        },
      },
    },
  },
  commands: {
    kubernetes: {
      steps: { 0: { supportedVersions: ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] } },
    },
  },
  // The second ADD gets the first one's address.
  "add-twice-same-container": {
    kubernetes: {
      steps: {
        1: addressed("10.244.59.128/26"),
        2: {
          "IPAMBlock/10-244-59-128-26": { spec: heldOnce },
          "IPAMHandle/k8s-pod-network.c1": { spec: countedOnce },
        },
      },
      store: { "IPAMBlock/10-244-59-128-26": { spec: freed } },
    },
    etcdv3: {
      steps: {
        1: addressed("10.244.59.128/26"),
        2: {
          "/calico/ipam/v2/assignment/ipv4/block/10.244.59.128-26": heldOnce,
          "/calico/ipam/v2/handle/k8s-pod-network.c1": countedOnce,
        },
      },
      store: { "/calico/ipam/v2/assignment/ipv4/block/10.244.59.128-26": freed },
    },
  },
  // As above, where the other program is between the two.
  "race-handle-exists": {
    kubernetes: {
      steps: { 0: addressed("10.244.5.0/26") },
      store: {
        "IPAMBlock/10-244-5-0-26": {
          metadata: null,
          spec: {
            allocations: { "1": null },
            attributes: [attribute({ node: "n1" })],
            sequenceNumber: 8,
            sequenceNumberForAllocation: { "1": null },
            unallocated: "1-63",
          },
        },
        "IPAMHandle/k8s-pod-network.c1": { metadata: null, spec: { block: { "10.244.5.0/26": 1 } } },
      },
    },
  },
  // Its deletion is finished.
  "affinity-marked-deleted": { kubernetes: { store: { "BlockAffinity/n1-10-244-5-0-26": null } } },
  // The IPv4 address is free again at once.
  "dual-no-v6-pool": {
    kubernetes: {
      steps: {
        1: {
          "IPAMBlock/10-244-59-128-26": {
            spec: { allocations: { "0": null }, attributes: [], sequenceNumberForAllocation: { "0": null }, ...freed },
          },
          "IPAMHandle/k8s-pod-network.c1": null,
        },
      },
    },
  },
  // The same write is tried again: no second block.
  "error-block-write": {
    kubernetes: {
      steps: { 0: addressed("10.244.5.0/26") },
      store: {
        "BlockAffinity/n1-10-244-59-128-26": null,
        "IPAMBlock/10-244-59-128-26": null,
        "IPAMBlock/10-244-5-0-26": {
          ...written,
          spec: {
            allocations: { "0": 0 },
            attributes: [ofPod],
            sequenceNumber: 8,
            sequenceNumberForAllocation: { "0": 7 },
            unallocated: "1-63",
          },
        },
        "IPAMHandle/k8s-pod-network.c1": { spec: { block: { "10.244.59.128/26": null, "10.244.5.0/26": 1 } } },
      },
    },
  },
  // The handle goes.
  "handle-too-high": {
    kubernetes: { store: { "IPAMHandle/k8s-pod-network.c1": null } },
    etcdv3: { store: { "/calico/ipam/v2/handle/k8s-pod-network.c1": null } },
  },
};
