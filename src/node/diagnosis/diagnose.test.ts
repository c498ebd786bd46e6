// A healthy cluster of two nodes as facts, and what is found when one thing about it is different: with IPv4, with IPv6, and where one family is broken
// and the other is not.
import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import {
  both,
  cluster,
  codesOf,
  failing,
  healthy,
  hostOf,
  inIpv6,
  inSix,
  lookup,
  nowMs,
  onCluster,
  onHost,
  podsSilent,
  session,
  whole,
} from "../../../test/kit/healthy-facts.ts";
import { diagnose, diagnoseFamily } from "./diagnose.ts";
import type { Facts } from "./facts.ts";
import { factsOf } from "./families.ts";

const cases: { name: string; facts: Facts; finds: string[] }[] = [
  { name: "a healthy cluster", facts: healthy, finds: [] },
  { name: "one host alone that is well", facts: { ...healthy, hosts: [hostOf(1)] }, finds: [] },
  { name: "a locked datastore", facts: onCluster({ datastoreReady: false }), finds: ["DATASTORE_LOCKED"] },
  {
    name: "a right that is missing",
    facts: onCluster({ unreadable: [{ what: "IPPool", why: "may not list ippools", rule: "- verbs: [list]" }] }),
    finds: ["NODE_RIGHTS_MISSING"],
  },
  {
    name: "a kind that is not there",
    facts: onCluster({ unreadable: [{ what: "IPPool", why: "no such kind" }] }),
    finds: ["DATASTORE_UNREADABLE"],
  },
  {
    name: "two nodes with one address, whose pods then do not answer",
    facts: {
      ...onHost(podsSilent),
      cluster: { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, address: "172.31.0.11/24" })) },
    },
    finds: ["NODE_ADDRESS_DUPLICATE"],
  },
  {
    name: "two nodes with one address, whose session is down",
    facts: {
      ...onHost(both(podsSilent, session("Active"))),
      cluster: { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, address: "172.31.0.11/24" })) },
    },
    finds: ["NODE_ADDRESS_DUPLICATE"],
  },
  {
    name: "two nodes with one address, whose BIRDs wait for each other",
    facts: {
      ...onHost((host) => ({
        ...podsSilent(host),
        bird: { ...session("Active")(host).bird, waits: "Wait timer is 212/240" },
      })),
      cluster: { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, address: "172.31.0.11/24" })) },
    },
    finds: ["NODE_ADDRESS_DUPLICATE"],
  },
  {
    name: "a node without an address",
    facts: onCluster({
      nodes: [
        { name: "n1", address: "172.31.0.11/24", internalAddresses: [] },
        { name: "n2", internalAddresses: [] },
      ],
    }),
    finds: ["NODE_ADDRESS_MISSING"],
  },
  {
    name: "an address that is not the InternalIP",
    facts: onCluster({ nodes: cluster.nodes.map((node) => ({ ...node, internalAddresses: ["10.0.2.15"] })) }),
    finds: ["NODE_ADDRESS_OTHER", "NODE_ADDRESS_OTHER"],
  },
  {
    name: "an address that the host has no more",
    facts: onHost((host) => ({ addresses: [{ link: "eth0", address: "172.31.0.33/24" }], ...podsSilent(host) }), "n2"),
    finds: ["NODE_ADDRESS_STALE"],
  },
  {
    name: "two networks without encapsulation",
    facts: {
      ...onHost(both(podsSilent, lookup({ gateway: "172.31.0.254" }))),
      cluster: {
        ...cluster,
        nodes: [
          { name: "n1", address: "172.31.0.11/24", internalAddresses: [] },
          { name: "n2", address: "172.31.1.12/24", internalAddresses: [] },
        ],
      },
      hosts: onHost(both(podsSilent, lookup({ gateway: "172.31.0.254" }))).hosts.map((host) =>
        host.node === "n2" ? { ...host, addresses: [{ link: "eth0", address: "172.31.1.12/24" }] } : host,
      ),
    },
    finds: ["SUBNETS_WITHOUT_ENCAPSULATION"],
  },
  {
    name: "a pod that asks for a disabled pool",
    facts: onCluster({
      pods: [
        ...cluster.pods,
        { namespace: "default", name: "c", node: "n1", phase: "Pending", asksForPools: ["other"] },
      ],
    }),
    finds: ["POOL_ASKED_IS_DISABLED"],
  },
  {
    name: "no pool that is enabled",
    facts: onCluster({ pools: cluster.pools.map((pool) => ({ ...pool, isDisabled: true })) }),
    finds: ["POOL_NONE_ENABLED"],
  },
  {
    name: "a pool over the services",
    facts: onCluster({ serviceRanges: ["10.244.3.1/32"] }),
    finds: ["POOL_OVERLAP"],
  },
  {
    name: "a block of a node that is gone",
    facts: onCluster({ blocks: [...cluster.blocks, { cidr: "10.244.9.0/26", node: "n9", inUse: 3 }] }),
    finds: ["BLOCK_WITHOUT_NODE"],
  },
  {
    name: "forwarding that is off, and the silence it brings",
    facts: {
      ...healthy,
      hosts: [
        { ...hostOf(1), ...podsSilent(hostOf(1)) },
        { ...hostOf(2), ...podsSilent(hostOf(2)), sysctls: { "net.ipv4.ip_forward": "0" } },
      ],
    },
    finds: ["FORWARDING_OFF"],
  },
  {
    name: "a strict filter with a way back by another interface",
    facts: onHost(
      both(podsSilent, lookup({ link: "eth1", gateway: undefined }), () => ({
        sysctls: { "net.ipv4.ip_forward": "1", "net.ipv4.conf.all.rp_filter": "1" },
      })),
      "n2",
    ),
    finds: ["REVERSE_PATH_FILTER"],
  },
  {
    name: "a way by a node that has nothing to do with it, which passes the packets on",
    facts: {
      ...onHost(lookup({ gateway: "172.31.0.13" }), "n1"),
      cluster: {
        ...cluster,
        nodes: [...cluster.nodes, { name: "n3", address: "172.31.0.13/24", internalAddresses: [] }],
      },
    },
    finds: ["ROUTE_WRONG"],
  },
  {
    name: "a way by a router, which passes the packets on",
    facts: onHost(lookup({ gateway: "172.31.0.253" }), "n1"),
    finds: [],
  },
  {
    name: "the same way back without the filter",
    facts: onHost(both(podsSilent, lookup({ link: "eth1", gateway: undefined })), "n2"),
    finds: ["ROUTE_WRONG"],
  },
  {
    name: "Docker's FORWARD",
    facts: onHost(
      both(podsSilent, () => ({
        foreignDrops: [
          { families: [4], table: "ip filter", chain: "FORWARD", what: "its policy is drop", command: "nft" },
        ],
      })),
      "n2",
    ),
    finds: ["FOREIGN_FORWARD_DROP"],
  },
  { name: "large packets that vanish", facts: onHost(failing("large"), "n2"), finds: ["MTU_PATH"] },
  {
    name: "a session with a node whose BIRD is silent",
    facts: {
      ...healthy,
      hosts: [
        { ...hostOf(1), ...both(podsSilent, session("Connect"))(hostOf(1)) },
        { ...hostOf(2), ...podsSilent(hostOf(2)), bird: { socket: "s", sessions: [], silent: "ECONNREFUSED" } },
      ],
    },
    finds: ["BIRD_SILENT"],
  },
  {
    name: "a node that has another address than Kubernetes knows, where nobody answers",
    facts: {
      ...onHost(failing("node", "large", "pod", "pod to pod", "arrival"), "n1"),
      cluster: {
        ...cluster,
        nodes: cluster.nodes.map((node) => ({
          ...node,
          internalAddresses: [node.name === "n2" ? "10.0.0.2" : "172.31.0.11"],
        })),
      },
    },
    finds: ["NODE_ADDRESS_OTHER"],
  },
  {
    name: "a node that was deleted, and whose machine runs",
    facts: { ...onHost(podsSilent), cluster: { ...cluster, nodes: cluster.nodes.slice(0, 1) } },
    finds: ["BLOCK_WITHOUT_NODE"],
  },
  {
    name: "a node that was deleted with its blocks, and whose BIRD knows nobody any more",
    facts: {
      ...onHost(both(podsSilent, session("Active")), "n2"),
      cluster: {
        ...cluster,
        nodes: cluster.nodes.slice(0, 1),
        blocks: cluster.blocks.slice(0, 1),
        affinities: cluster.affinities.slice(0, 1),
      },
    },
    finds: ["NODE_UNKNOWN"],
  },
  {
    name: "a pool that was deleted, and has pods",
    facts: {
      ...onHost(podsSilent),
      cluster: {
        ...cluster,
        pools: [{ name: "other", cidr: "10.9.0.0/16", vxlan: "Never", ipip: "Never", isDisabled: false }],
      },
    },
    finds: ["POOL_GONE"],
  },
  {
    name: "no pool at all, with Calico's IPAM",
    facts: {
      ...onHost(({ cni }) => ({ cni: { ...cni, ipam: "calico-ipam" } })),
      cluster: { ...cluster, pools: [], blocks: [] },
    },
    finds: ["POOL_NONE_ENABLED"],
  },
  {
    name: "no pool at all, with another IPAM",
    facts: onCluster({ pools: [], blocks: [] }),
    finds: [],
  },
  {
    name: "a pool with IPIP, and nodes that have no IPIP device",
    facts: {
      ...onHost(podsSilent),
      cluster: { ...cluster, pools: cluster.pools.map((pool) => ({ ...pool, ipip: "Always" as const })) },
    },
    finds: ["POOL_IPIP_NOT_MADE"],
  },
  {
    name: "IPIP that is blocked",
    facts: {
      ...onHost((host) => ({
        ...podsSilent(host),
        links: [...host.links, { name: "tunl0", kind: "ipip", isUp: true, mtu: 1480 }],
        lookups: host.lookups.map((each) => (each.gateway === undefined ? each : { ...each, link: "tunl0" })),
      })),
      cluster: { ...cluster, pools: cluster.pools.map((pool) => ({ ...pool, ipip: "Always" as const })) },
    },
    finds: ["IPIP_BLOCKED"],
  },
  {
    name: "a session that is down, and no routes",
    facts: onHost(both(podsSilent, session("Active"), lookup({ gateway: "172.31.0.254" }))),
    finds: ["BGP_SESSION_DOWN", "BGP_SESSION_DOWN"],
  },
  {
    name: "a session with a node that does not answer at all",
    facts: onHost(both(failing("node", "large", "pod", "pod to pod", "arrival"), session("Active")), "n1"),
    finds: ["NODE_UNREACHABLE"],
  },
  {
    name: "a BIRD that waits",
    facts: onHost(
      (host) => ({
        ...podsSilent(host),
        bird: {
          socket: "s",
          sessions: [{ address: "172.31.0.12", state: "Passive", info: "" }],
          waits: "Wait timer is 212/240",
        },
      }),
      "n1",
    ),
    finds: ["BGP_WAITS"],
  },
  {
    name: "a route that is gone",
    facts: onHost(
      both(podsSilent, lookup({ gateway: "172.31.0.254" }), (host) => ({ routes: host.routes.slice(0, 1) })),
      "n1",
    ),
    finds: ["ROUTE_MISSING"],
  },
  { name: "an underlay that drops addresses of pods", facts: onHost(podsSilent), finds: ["UNDERLAY_DROPS_PODS"] },
  {
    name: "the same, seen from one side only",
    facts: { ...healthy, hosts: [{ ...hostOf(1), ...podsSilent(hostOf(1)) }] },
    finds: ["UNDERLAY_DROPS_PODS"],
  },
  {
    name: "an underlay that drops them on the way back",
    facts: onHost(failing("pod", "pod to pod")),
    finds: ["UNDERLAY_DROPS_PODS"],
  },
  {
    name: "a policy that denies",
    facts: onHost((host) => ({
      ...failing("pod", "pod to pod")(host),
      verdicts: host.probes.map(({ from, to }) => ({ family: 4, from, to, verdict: "deny", by: "NetworkPolicy x" })),
    })),
    finds: ["POLICY_DENIES"],
  },
  {
    name: "a node that does not answer",
    facts: onHost(failing("node", "large", "pod", "pod to pod", "arrival"), "n1"),
    finds: ["NODE_UNREACHABLE"],
  },
  {
    name: "a pod that is silent at home, too",
    facts: onHost((host) => ({
      probes: host.probes.map((probe) =>
        probe.to === "default/b" && probe.kind !== "arrival" ? { ...probe, ok: false } : probe,
      ),
    })),
    finds: ["POD_SILENT"],
  },
  {
    name: "a kubeconfig that has expired",
    facts: onHost(
      ({ cni }) => ({ cni: { ...cni, credentials: { file: "k", of: "certificate", expiresMs: nowMs - 1 } } }),
      "n1",
    ),
    finds: ["CNI_CREDENTIALS_EXPIRED"],
  },
  {
    name: "a plugin whose account lacks a right",
    facts: onHost(
      ({ cni }) => ({ cni: { ...cni, missingRights: [{ what: "list IPReservation", why: "may not", rule: "- r" }] } }),
      "n1",
    ),
    finds: ["NODE_RIGHTS_MISSING"],
  },
  {
    name: "one that will soon",
    facts: onHost(
      ({ cni }) => ({ cni: { ...cni, credentials: { file: "k", of: "certificate", expiresMs: nowMs + 1 } } }),
      "n1",
    ),
    finds: ["CNI_CREDENTIALS_EXPIRE_SOON"],
  },
  {
    name: "an agent's socket below a folder of another user",
    facts: onHost(({ cni }) => ({ cni: { ...cni, unsafeSocket: "/var/run/calico belongs to user 1000" } }), "n1"),
    finds: ["CNI_SOCKET_UNSAFE"],
  },
  {
    name: "a token that lives for a day",
    facts: onHost(({ cni }) => ({ cni: { ...cni, credentials: { file: "k", of: "token", expiresMs: nowMs + 1 } } })),
    finds: [],
  },
  {
    name: "no configuration of the plugin",
    facts: onHost(() => ({ cni: { nodeNameFile: "n1" } }), "n1"),
    finds: ["CNI_CONFIGURATION_MISSING"],
  },
  {
    name: "a name file of another node",
    facts: onHost(({ cni }) => ({ cni: { ...cni, nodeNameFile: "n7" } }), "n1"),
    finds: ["NODE_NAME_FILE"],
  },
  {
    name: "a host that nobody knows",
    facts: { ...healthy, hosts: [{ ...hostOf(1), node: "n7", cni: { file: "f", nodeNameFile: "n7" }, probes: [] }] },
    finds: ["NODE_UNKNOWN"],
  },
  {
    name: "an interface that no pod has",
    facts: onHost(
      ({ links }) => ({ links: [...links, { name: "cali0123456789a", kind: "veth", isUp: true, mtu: 1500 }] }),
      "n1",
    ),
    finds: ["LEFTOVER_INTERFACE"],
  },
  {
    name: "a kernel without nftables",
    facts: onHost(() => ({ features: [{ name: "nftables", isThere: false, says: "ENOENT" }] }), "n1"),
    finds: ["KERNEL_FEATURE"],
  },
  {
    name: "rules of two agents",
    facts: onHost(() => ({ ruleOwners: ["cattail", "calico"] }), "n1"),
    finds: ["AGENTS_TWO"],
  },
  {
    name: "a Typha that cannot be reached",
    facts: onHost(() => ({ typha: { address: "10.0.0.1:5473", problem: "ECONNREFUSED" } }), "n1"),
    finds: ["NODE_TYPHA_UNREACHABLE"],
  },
];

for (const { name, facts, finds } of cases) {
  test(`diagnosis: ${name}`, () => deepEqual(codesOf(diagnoseFamily(facts)), finds));
  test(`diagnosis with IPv6: ${name}`, () => deepEqual(codesOf(diagnoseFamily(inIpv6(facts))), inSix(finds)));
}

test("both families: each is looked at by itself, and what is wrong with both is told once", () => {
  const [silent, quiet] = [onHost(podsSilent), inIpv6(healthy)];
  deepEqual(codesOf(diagnose(whole(healthy, quiet))), []);
  deepEqual(factsOf(whole(healthy, quiet), 6).cluster, quiet.cluster);
  deepEqual(codesOf(diagnose(whole(silent, quiet))), ["UNDERLAY_DROPS_PODS"]);
  const [six] = diagnose(whole(healthy, inIpv6(silent)));
  deepEqual(six?.code, "UNDERLAY_DROPS_PODS");
  match(six?.what ?? "", /IPv6 packets with addresses of pods do not arrive/);
  const locked = onCluster({ datastoreReady: false });
  deepEqual(codesOf(diagnose(whole(locked, inIpv6(locked)))), ["DATASTORE_LOCKED"]);
});

test("both families: a BIRD that waits for sessions of one only is that one's business", () => {
  const waits = "Wait timer is 212/240";
  const waiting = (state: string) =>
    onHost((host) => ({ ...podsSilent(host), bird: { ...session(state)(host).bird, waits } }), "n1");
  const [found, ...more] = diagnose(whole(waiting("Established"), inIpv6(waiting("Passive"))));
  deepEqual([found?.code, more.length], ["BGP_WAITS", 0]);
  match(found?.evidence.join() ?? "", /Passive/);
});

test("what is seen from one side only says what was not looked at", () => {
  const [found] = diagnoseFamily({ ...healthy, hosts: [{ ...hostOf(1), ...podsSilent(hostOf(1)) }] });
  match(found?.evidence.join("\n") ?? "", /not looked at: n2; run cattail doctor node there/);
});
