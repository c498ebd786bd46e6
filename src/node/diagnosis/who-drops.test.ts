// Pings without an answer, and who on a node is to blame: rules of others, kernels, routes, hardware addresses, pods; and where nobody is, nothing is found.
import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import {
  both,
  cluster,
  codesOf,
  failing,
  inIpv6,
  inSix,
  lookup,
  onHost,
  podsSilent,
  session,
} from "../../../test/kit/healthy-facts.ts";
import { diagnoseFamily } from "./diagnose.ts";
import type { Facts, HostFacts, RuleCondition, SuspectRule } from "./facts.ts";

const fromPods: RuleCondition = { on: "source", networks: ["10.244.0.0/18"], isNot: false };
const suspect =
  (...rules: Partial<SuspectRule>[]) =>
  () => ({
    suspects: rules.map(
      (rule): SuspectRule => ({
        families: [4],
        table: "ip guard",
        chain: "f",
        hook: "forward",
        rule: "drop",
        conditions: [],
        unless: [],
        command: "nft",
        ...rule,
      }),
    ),
  });

/** Two nodes with tunnels, whose packets do not arrive; n1's has the entries that are told. */
function tunnelled(
  how: "as it should be" | "without a neighbour" | "without a forwarding entry" | "with another node's",
): Facts {
  const tunnel = { link: "vxlan.calico", kind: "vxlan", isUp: true, mtu: 1450 };
  const changed = onHost(
    both(podsSilent, lookup({ gateway: undefined, link: "vxlan.calico" }), ({ node, links }) => {
      const [own, far] = node === "n1" ? [1, 2] : [2, 1];
      const isBroken = node === "n1";
      const mac = `66:00:00:00:00:0${far}`;
      const to = isBroken && how === "with another node's" ? "172.31.0.99" : `172.31.0.1${far}`;
      return {
        links: [
          ...links,
          ...["vxlan.calico", "vxlan-v6.calico"].map((name) => ({ ...tunnel, name, mac: `66:00:00:00:00:0${own}` })),
        ],
        neighbours:
          isBroken && how === "without a neighbour"
            ? []
            : ["vxlan.calico", "vxlan-v6.calico"].map((link) => ({ link, address: `10.244.${far}.0`, mac })),
        tunnelEntries:
          isBroken && how === "without a forwarding entry"
            ? []
            : ["vxlan.calico", "vxlan-v6.calico"].map((link) => ({ link, mac, to })),
      };
    }),
  );
  return {
    ...changed,
    cluster: {
      ...cluster,
      nodes: cluster.nodes.map((node, at) => ({ ...node, tunnelAddress: `10.244.${at + 1}.0` })),
      pools: cluster.pools.map((pool) => ({ ...pool, vxlan: "Always" })),
    },
  };
}

const cases: { name: string; facts: Facts; finds: string[]; inSix?: string[] }[] = [
  {
    name: "a rule of others that drops what comes from pods",
    facts: onHost(both(podsSilent, suspect({ hook: "prerouting", conditions: [fromPods] })), "n2"),
    finds: ["FOREIGN_FORWARD_DROP"],
  },
  {
    name: "the same rule, and an accept for them before it",
    facts: onHost(both(podsSilent, suspect({ hook: "prerouting", conditions: [fromPods], unless: [[fromPods]] }))),
    finds: ["UNDERLAY_DROPS_PODS"],
  },
  {
    name: "a rule of others about other addresses, at another hook, or for another interface",
    facts: onHost(
      both(
        podsSilent,
        suspect(
          { conditions: [{ ...fromPods, networks: ["192.0.2.0/24"] }] },
          { conditions: [fromPods], hook: "output" },
          { conditions: [{ on: "interface in", names: ["docker0", "br-*"], isNot: false }] },
          { conditions: [{ on: "protocol", names: ["tcp"], isNot: false }] },
        ),
      ),
    ),
    finds: ["UNDERLAY_DROPS_PODS"],
  },
  { name: "a rule of others where all is well", facts: onHost(suspect({ conditions: [fromPods] })), finds: [] },
  {
    name: "a firewall with the policy drop that lets pods pass",
    facts: onHost(
      () => ({
        foreignDrops: [
          { families: [4], table: "ip filter", chain: "FORWARD", what: "its policy is drop", command: "nft" },
        ],
      }),
      "n2",
    ),
    finds: [],
  },
  {
    name: "an interface that does not forward",
    facts: onHost(
      both(podsSilent, ({ sysctls }) => ({ sysctls: { ...sysctls, "net.ipv4.conf.eth0.forwarding": "0" } })),
      "n2",
    ),
    finds: ["FORWARDING_OFF"],
    inSix: ["UNDERLAY_DROPS_PODS"], // whose kernel asks all interfaces or none
  },
  {
    name: "a kernel that follows as many connections as it may",
    facts: onHost(
      both(podsSilent, () => ({ conntrack: { count: 65_536, max: 65_536 } })),
      "n2",
    ),
    finds: ["CONNTRACK_FULL"],
  },
  {
    name: "a kernel that could follow more",
    facts: onHost(() => ({ conntrack: { count: 65_535, max: 65_536 } })),
    finds: [],
  },
  {
    name: "a blackhole in the place of a route",
    facts: onHost(both(podsSilent, lookup({ gateway: undefined, link: undefined, refused: "EINVAL" })), "n1"),
    finds: ["ROUTE_WRONG"],
  },
  {
    name: "an address of another node's pod in a block of this one, without a route of its own",
    facts: {
      ...onHost(both(podsSilent, lookup({ gateway: undefined, link: undefined, refused: "EINVAL" })), "n1"),
      cluster: { ...cluster, blocks: [{ cidr: "10.244.2.0/26", node: "n1", inUse: 1 }] },
    },
    finds: ["ROUTE_MISSING"],
  },
  {
    name: "several ways to a block, of which one leads to its node",
    facts: onHost(({ lookups }) => ({
      lookups: lookups.map((each) =>
        each.gateway === undefined
          ? each
          : { ...each, gateway: "172.31.0.99", ways: [{ gateway: "172.31.0.99" }, { gateway: each.gateway }] },
      ),
    })),
    finds: [],
  },
  { name: "a router that knows the way", facts: onHost(lookup({ gateway: "172.31.0.254" })), finds: [] },
  {
    name: "a hardware address that is not the other node's",
    facts: onHost(
      both(failing("node", "large", "pod", "pod to pod", "arrival"), session("Active"), ({ node, links }) => ({
        links: links.map((link) => ({ ...link, mac: `02:00:00:00:00:${node}` })),
        neighbours: [
          node === "n1"
            ? { link: "eth0", address: "172.31.0.12", mac: "02:00:00:00:00:99" }
            : { link: "eth0", address: "172.31.0.11", mac: "02:00:00:00:00:n1" },
        ],
      })),
    ),
    finds: ["NEIGHBOUR_WRONG"],
  },
  {
    name: "another hardware address where all is well, as behind a cloud's router",
    facts: onHost(({ links }) => ({
      links: links.map((link) => ({ ...link, mac: "02:00:00:00:00:01" })),
      neighbours: [{ link: "eth0", address: "172.31.0.12", mac: "12:34:56:78:9a:bc" }],
    })),
    finds: [],
  },
  ...(["as it should be", "without a neighbour", "without a forwarding entry", "with another node's"] as const).map(
    (how) => ({
      name: `VXLAN packets that do not arrive, with a tunnel ${how}`,
      facts: tunnelled(how),
      finds: [how === "as it should be" ? "VXLAN_BLOCKED" : "TUNNEL_WRONG"],
    }),
  ),
  {
    name: "a pod that has lost its route, and is silent at home, too",
    facts: onHost((host) => ({
      probes: host.probes.map((probe) =>
        (probe.to === "default/b" && probe.kind !== "arrival") || probe.from === "default/b"
          ? { ...probe, ok: false }
          : probe,
      ),
      podTroubles: host.node === "n2" ? [{ pod: "default/b", says: "it has no route out (ENETUNREACH)" }] : [],
    })),
    finds: ["POD_INTERFACE"],
  },
  {
    name: "a pod whose interface is gone",
    facts: onHost((host) => ({
      links: host.node === "n2" ? host.links.slice(0, 1) : host.links,
      probes: host.probes.map((probe) =>
        probe.to === "default/b" || probe.from === "default/b" ? { ...probe, ok: false } : probe,
      ),
    })),
    finds: ["POD_INTERFACE"],
  },
];

for (const { name, facts, finds, inSix: findsInSix } of cases) {
  test(`diagnosis: ${name}`, () => deepEqual(codesOf(diagnoseFamily(facts)), finds));
  test(`diagnosis with IPv6: ${name}`, () =>
    deepEqual(codesOf(diagnoseFamily(inIpv6(facts))), findsInSix ?? inSix(finds)));
}

test("a session that is down: the fix is about what BIRD and the kernel say", () => {
  const fixOf = (info: string, more: Partial<HostFacts> = {}) =>
    diagnoseFamily(
      onHost((host) => {
        const { bird } = session("Active")(host);
        return { bird: { ...bird, sessions: bird.sessions.map((each) => ({ ...each, info })) }, ...more };
      }, "n1"),
    )[0]?.fix ?? "";
  match(fixOf(""), /allow TCP port 179/);
  match(fixOf("BGP Error: Bad peer AS"), /AS numbers/);
  match(fixOf("", { signatureDrops: 3 }), /same password/);
});

test("a rule of others around the tunnel's packets is told with the tunnel", () => {
  const facts = tunnelled("as it should be");
  const [rule] = suspect({
    hook: "input",
    conditions: [{ on: "destination port", ports: [[4789, 4789]], isNot: false }],
  })().suspects;
  const hosts = facts.hosts.map((host) => (host.node === "n2" ? { ...host, suspects: rule ? [rule] : [] } : host));
  const [found, ...more] = diagnoseFamily({ ...facts, hosts });
  deepEqual([found?.code, found?.node, more.length], ["VXLAN_BLOCKED", "n2", 0]);
  match(found?.evidence.join("\n") ?? "", /the firewall of n2 drops it: chain f of table ip guard: drop/);
});
