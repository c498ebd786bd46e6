// What operators meet and no breakage of the lab makes, as facts: the agent, the plugin's files, sessions, rules of routing, addresses, host endpoints.
import { deepEqual, match, throws } from "node:assert/strict";
import { test } from "node:test";
import {
  both,
  cluster,
  codesOf,
  failing,
  healthy,
  hostOf,
  inIpv6,
  lookup,
  onCluster,
  onHost,
  podsSilent,
  session,
  whole,
} from "../../../test/kit/healthy-facts.ts";
import { diagnose, diagnoseFamily } from "./diagnose.ts";
import type { CniFacts, Facts, HostFacts } from "./facts.ts";
import { findEnds } from "./path/ends.ts";
import { interfaceOf } from "./pod-interface.ts";

const withoutAgent = () => ({ agent: { asked: ["/var/run/calico/cattail/cni.sock"], isThere: false } });
const plugin = (change: Partial<CniFacts>) => onHost(({ cni }) => ({ cni: { ...cni, ...change } }), "n1");
const silentPod = (host: HostFacts) => ({
  probes: host.probes.map((probe) => (probe.to === "default/b" ? { ...probe, ok: false } : probe)),
});
const gone = both(podsSilent, lookup({ gateway: "172.31.0.254" }), (host) => ({ routes: host.routes.slice(0, 1) }));
const withoutPeers = (host: HostFacts) => ({ ...gone(host), bird: { socket: "s", sessions: [] } });
const ruled = (host: HostFacts): Partial<HostFacts> => ({
  ...podsSilent(host),
  rules: ["100: from 10.244.0.0/16 lookup 100"],
  podLookups: [
    {
      from: "10.244.1.0",
      to: "10.244.2.0",
      arrives: interfaceOf("default", "a"),
      gateway: "172.31.0.254",
      link: "eth0",
    },
    { from: "10.244.2.0", to: "10.244.1.0", arrives: "eth0", gateway: "172.31.0.254", link: "eth0" },
  ],
});
const deniedNodes = (host: HostFacts): Partial<HostFacts> => ({
  ...failing("node", "large", "pod", "pod to pod", "arrival")(host),
  verdicts: host.probes
    .filter(({ kind }) => kind === "node")
    .map(({ from, to }) => ({ family: 4, from, to, verdict: "deny", by: "the host endpoint of n2" })),
});

const cases: { name: string; facts: Facts; finds: string[] }[] = [
  { name: "a node without an agent", facts: onHost(withoutAgent, "n1"), finds: ["AGENT_SILENT"] },
  {
    name: "an agent that runs",
    facts: onHost(() => ({ agent: { asked: ["localhost:9099"], isThere: true } })),
    finds: [],
  },
  {
    name: "a node without an agent, and a new pod on it that nobody answers for",
    facts: onHost(both(withoutAgent, silentPod)),
    finds: ["AGENT_SILENT", "AGENT_SILENT"],
  },
  {
    name: "a node without agent and BIRD, and the sessions with it",
    facts: {
      ...healthy,
      hosts: [
        { ...hostOf(1), ...both(podsSilent, session("Connect"))(hostOf(1)) },
        { ...hostOf(2), ...podsSilent(hostOf(2)), ...withoutAgent(), bird: { socket: "s", sessions: [], silent: "x" } },
      ],
    },
    finds: ["AGENT_SILENT"],
  },
  {
    name: "agents that end again and again, because the datastore is locked",
    facts: { ...onHost(withoutAgent), cluster: { ...cluster, datastoreReady: false } },
    finds: ["DATASTORE_LOCKED"],
  },
  {
    name: "a configuration of another plugin that comes first",
    facts: plugin({ before: { file: "/etc/cni/net.d/05-cilium.conflist", type: "cilium-cni" } }),
    finds: ["CNI_CONFIGURATION_OTHER"],
  },
  {
    name: "a plugin's program that is not there",
    facts: plugin({ missingPrograms: ["portmap"], programFolders: ["/opt/cni/bin"] }),
    finds: ["CNI_PLUGIN_MISSING"],
  },
  {
    name: "no mesh, and no peers",
    facts: { ...onHost(withoutPeers), cluster: { ...cluster, isMeshOn: false } },
    finds: ["BGP_NO_PEERS", "BGP_NO_PEERS"],
  },
  {
    name: "no mesh, and a BIRD without peers that nobody needs",
    facts: {
      ...onHost(() => ({ bird: { socket: "s", sessions: [] } })),
      cluster: { ...cluster, isMeshOn: false },
    },
    finds: [],
  },
  { name: "a rule of routing that takes packets of pods away", facts: onHost(ruled, "n1"), finds: ["ROUTING_RULE"] },
  {
    name: "a rule of routing that makes no difference, where the underlay drops",
    facts: onHost((host) => ({
      ...podsSilent(host),
      rules: ["99: from all fwmark 0x1 lookup 7"],
      podLookups:
        host.node === "n1"
          ? [{ from: "10.244.1.0", to: "10.244.2.0", arrives: "caliX", gateway: "172.31.0.12", link: "eth0" }]
          : [],
    })),
    finds: ["UNDERLAY_DROPS_PODS"],
  },
  {
    name: "an address of another node, set by hand",
    facts: {
      ...healthy,
      hosts: [
        { ...hostOf(1), addresses: [...hostOf(1).addresses, { link: "eth1", address: "172.31.0.12/32" }] },
        { ...hostOf(2), ...failing("node", "large", "pod", "pod to pod", "arrival")(hostOf(2)) },
      ],
    },
    finds: ["NODE_ADDRESS_DUPLICATE"],
  },
  {
    name: "a host endpoint that denies what nodes send each other",
    facts: onHost(deniedNodes, "n1"),
    finds: ["POLICY_DENIES"],
  },
];

for (const { name, facts, finds } of cases) test(name, () => deepEqual(codesOf(diagnoseFamily(facts)), finds));

test("routes that a pool keeps from BGP's peers: the finding says which pool", () => {
  const bird = session("Established");
  const facts = onHost(both(gone, bird), "n1");
  const kept = {
    ...facts,
    cluster: { ...cluster, pools: cluster.pools.map((pool) => ({ ...pool, isUnannounced: true })) },
  };
  const [found, ...more] = diagnoseFamily(kept);
  deepEqual([found?.code, more], ["ROUTE_MISSING", []]);
  match(found?.fix ?? "", /patch ippool pool .*disableBGPExport/);
});

test("a pod whose interface is down: the finding says that, and how it is mended", () => {
  const link = interfaceOf("default", "a");
  const [found, ...more] = diagnoseFamily(
    onHost(
      (host) => ({
        links: host.links.map((each) => (each.name === link ? { ...each, isUp: false } : each)),
        lookups: host.lookups.map((each) => (each.link === link ? { to: each.to, refused: "EINVAL" } : each)),
      }),
      "n1",
    ),
  );
  deepEqual([found?.code, found?.fix, more], ["POD_ROUTE_MISSING", `ip link set ${link} up, on n1`, []]);
});

test("a peer where no machine is: the fix is not about a firewall", () => {
  const alone = onCluster({});
  const facts = {
    ...alone,
    hosts: alone.hosts.map((host) => ({
      ...host,
      bird: { socket: "s", sessions: [{ address: "10.9.9.9", state: "Connect", info: "Socket: No route to host" }] },
    })),
  };
  for (const { code, fix } of diagnoseFamily(facts)) {
    deepEqual(code, "BGP_SESSION_DOWN");
    match(fix, /BGPPeer names the right one/);
  }
});

test("a session of IPv6 between two nodes that have one IPv4 address: that address is all that is told", () => {
  const apart = { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, address: "172.31.0.11/24" })) };
  const four = { ...onHost(both(podsSilent, session("Active"))), cluster: apart };
  const six = inIpv6(onHost(both(podsSilent, session("Idle"))));
  deepEqual(codesOf(diagnose(whole(four, six))), ["NODE_ADDRESS_DUPLICATE"]);
});

test("what would encapsulate packets names the pool that they are of", () => {
  const [found] = diagnoseFamily(onHost(podsSilent));
  match(found?.fix ?? "", /patch ippool pool -p/);
});

test("a path to the address of a service is refused with what to ask instead", () => {
  const { cluster: both } = whole(healthy, inIpv6(healthy));
  const ask = (to: string) => findEnds({ from: "a", to, namespace: "default" }, both);
  throws(() => ask("10.96.0.1"), { code: "PATH_END", message: /address of a service[\s\S]*endpointslices/ });
  deepEqual(
    ask("10.97.0.1").map(({ to }) => to.is),
    ["address"],
  );
});
