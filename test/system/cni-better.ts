// Where the plugin of Cattail does better than the recordings on purpose: what it answers, stores and leaves instead, as a change of what
// was recorded (null removes). The rest of each case is compared as it is.
import type { JsonRecord } from "../../src/base/lib/index.ts";
import type { CniOutcome, CniPlayed, Networks } from "../kit/cni-cases/case.ts";
import type { StoreKind } from "../kit/ipam-cases/case.ts";
import { merged } from "../kit/ipam-cases/case-store.ts";

type Change = {
  /** `out` is a change of what was recorded; `instead` takes its place. */
  readonly steps?: {
    readonly [at: number]: { readonly out?: JsonRecord; readonly rc?: number; readonly instead?: unknown };
  };
  readonly store?: JsonRecord;
  readonly network?: JsonRecord;
};
type Better = { readonly [kind in StoreKind]?: Change };

export function betterCni(name: string, kind: StoreKind, recorded: CniPlayed): CniPlayed {
  const change = better[name]?.[kind] ?? {};
  return {
    ...recorded,
    steps: recorded.steps.map(({ rc, out }, at) => changed(rc, out, change.steps?.[at])),
    store: merged(recorded.store, change.store ?? {}),
    network: merged(recorded.network as unknown as JsonRecord, change.network ?? {}) as unknown as Networks,
  };
}

function changed(rc: number, out: unknown, change: NonNullable<Change["steps"]>[number] = {}): CniOutcome {
  if (change.instead !== undefined) return { rc: change.rc ?? rc, out: change.instead };
  return { rc: change.rc ?? rc, out: change.out === undefined ? out : merged(out as JsonRecord, change.out) }; // only answers that are objects are changed
}

const first = "10.244.59.128";
const ofFirst = { ips: [{ address: `${first}/32`, interface: 1 }], routes: [{ dst: `${first}/26` }] };
const route = (address: string) => `${address} dev cali182c452fe96 scope link proto boot`;
const usesFirst = {
  nodes: { n1: { routes: [route(first)] } },
  pods: { c1: { links: { eth0: { addresses: [`${first}/32 global`] } } } },
};
const routed = (address: string) => ({ nodes: { n1: { routes: [route(address)] } } });

/** Neither end of the pair is there. */
function unplugged(hostSide: string, container: string): JsonRecord {
  const names = [
    ...["forwarding", "proxy_arp", "route_localnet"].map((name) => `ipv4/conf/${hostSide}/${name}`),
    `ipv4/neigh/${hostSide}/proxy_delay`,
    ...["accept_dad", "accept_ra", "disable_ipv6", "forwarding", "proxy_ndp"].map(
      (name) => `ipv6/conf/${hostSide}/${name}`,
    ),
  ];
  const sysctls = Object.fromEntries(names.map((name) => [name, null]));
  return {
    nodes: { n1: { links: { [hostSide]: null }, routes: [], sysctls } },
    pods: { [container]: { links: { eth0: null }, routes: [], sysctls: { "ipv6/conf/eth0/accept_dad": null } } },
  };
}

const noBlock = { "BlockAffinity/n1-10-244-59-128-26": null, "IPAMBlock/10-244-59-128-26": null };
const annotation = (name: string) => `cni.projectcalico.org/${name}`;
const unmarked = { [annotation("podIP")]: null, [annotation("podIPs")]: null };
const heldFirst = {
  allocations: { "1": null, "0": 0 },
  sequenceNumberForAllocation: { "1": null, "0": "$S-1" },
  unallocated: "1-63",
};

const better: { readonly [name: string]: Better } = {
  // The second ADD gets the first one's address.
  "add-twice": {
    kubernetes: {
      steps: { 1: { out: ofFirst }, 2: { out: usesFirst } },
      store: { "IPAMBlock/10-244-59-128-26": { spec: { unallocated: "1-63 0" } } },
    },
  },
  // CHECK looks; STATUS and GC are answered, and so 1.1.0 is spoken.
  commands: {
    kubernetes: {
      steps: {
        0: { out: { supportedVersions: ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] } },
        6: { rc: 0, instead: null },
        7: { instead: { code: 7, msg: "cni.dev/valid-attachments is missing or no list" } },
        1: {
          rc: 1,
          instead: { code: 999, msg: "the node has no interface cali182c452fe96; the pod has no interface eth0" },
        },
      },
    },
  },
  // Without CNI_NETNS the interface is found by its name, and goes with its address.
  "del-netns-gone": { kubernetes: { network: unplugged("calib3a9b371b64", "c2") } },
  // Nothing is written where there is nothing to clear.
  "del-unknown": { kubernetes: { store: { "Pod/default/p1": { annotations: unmarked } } } },
  exhaustion: { kubernetes: { store: { "Pod/default/p3": { annotations: unmarked } } } },
  // An ADD that fails late takes the interface back, too.
  "error-add-patch": { kubernetes: { network: unplugged("cali182c452fe96", "c1") } },
  // The feature is found to be off before anything is made; so the next ADD gets the first address.
  "floating-ips": {
    kubernetes: {
      steps: { 1: { out: ofFirst } },
      store: {
        "IPAMBlock/10-244-59-128-26": { spec: heldFirst },
        "Pod/default/p1": {
          annotations: { [annotation("podIP")]: `${first}/32`, [annotation("podIPs")]: `${first}/32` },
        },
      },
      network: usesFirst,
    },
    etcdv3: {
      steps: { 1: { out: ofFirst } },
      store: {
        "/calico/ipam/v2/assignment/ipv4/block/10.244.59.128-26": heldFirst,
        "/calico/resources/v3/projectcalico.org/workloadendpoints/default/n1-k8s-p1-eth0": {
          spec: { ipNATs: [{ externalIP: "192.0.2.7", internalIP: first }], ipNetworks: [`${first}/32`] },
        },
      },
      network: usesFirst,
    },
  },
  // An annotation that cannot be read is found before an address is asked for.
  "hw-addr-bad": { kubernetes: { store: noBlock, network: unplugged("cali182c452fe96", "c1") } },
  // The node has the route.
  "ip-addrs": {
    kubernetes: { steps: { 1: { out: routed("10.244.9.9") } } },
    etcdv3: { steps: { 1: { out: routed("10.244.9.9") } } },
  },
  "ip-addrs-again": { kubernetes: { network: routed("10.244.9.9") } },
  "ip-addrs-no-ipam": { kubernetes: { steps: { 2: { out: routed("10.77.0.9") } } } },
  // A profile of the network's name is refused before anything is made.
  "policy-none-kubernetes": {
    kubernetes: {
      store: {
        ...noBlock,
        "Pod/default/p1": { annotations: { ...unmarked, [annotation("containerID")]: null } },
      },
      network: unplugged("cali182c452fe96", "c1"),
    },
  },
  // The pod that took the name is not marked with the sandbox of the other; the address is free again.
  "race-add-pod-replaced": {
    kubernetes: {
      steps: {
        0: {
          rc: 1,
          instead: {
            code: 999,
            msg: "pod default/p1 was replaced by another of its name while it got its network",
          },
        },
      },
      store: {
        "IPAMBlock/10-244-59-128-26": {
          spec: {
            allocations: { "0": null },
            attributes: [],
            sequenceNumberForAllocation: { "0": null },
            unallocated: "1-63 0",
          },
        },
        "IPAMHandle/k8s-pod-network.c1": null,
        "Pod/default/p1": { annotations: { ...unmarked, [annotation("containerID")]: null } },
      },
      network: unplugged("cali182c452fe96", "c1"),
    },
  },
};
