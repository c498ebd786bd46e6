// Small clusters, reduced from random ones where packets and explain had disagreed or made like those, with what the kernel does to each flow.
// Asked of the verdicts without a kernel, and of packets beside the random ones.
import { PolicyWorld } from "../policy-world.ts";

export type SmallCluster = {
  readonly about: string;
  /** Keys and values beside those of the lab's own world. */
  readonly values: { readonly [path: string]: object | string };
  readonly flows: { readonly [flow: string]: "allow" | "deny" };
};

const hostEndpoint = { "/calico/v1/host/node-a/endpoint/h": { name: "eth0", labels: { h: "1" } } };
const untrackedUdpIn = {
  "/calico/v1/policy/GlobalNetworkPolicy//untracked": {
    tier: "default",
    selector: "h == '1'",
    types: ["ingress"],
    inbound_rules: [{ action: "allow", protocol: "udp" }],
    outbound_rules: [],
    untracked: true,
    apply_on_forward: true,
  },
};
const answersToAnotherAddress = {
  "/calico/v1/policy/GlobalNetworkPolicy//untracked": {
    tier: "default",
    selector: "h == '1'",
    types: ["ingress"],
    inbound_rules: [{ action: "deny", protocol: "udp", dst_nets: ["192.0.2.77/32"] }],
    outbound_rules: [],
    untracked: true,
    apply_on_forward: true,
  },
};
const forAllInterfaces = { "/calico/v1/host/node-a/endpoint/h": { name: "*", labels: { h: "1" } } };
const forwarding = (direction: "ingress" | "egress", rules: readonly object[]) => ({
  "/calico/v1/policy/GlobalNetworkPolicy//forwarding": {
    tier: "default",
    order: 2,
    selector: "h == '1'",
    types: [direction],
    inbound_rules: direction === "ingress" ? rules : [],
    outbound_rules: direction === "egress" ? rules : [],
    apply_on_forward: true,
  },
});
const toolsPath = "/calico/v1/host/node-a/workload/k8s/green%2ftools/endpoint/eth0";
/** A pod of the lab with other fields. */
const tools = (fields: object) => ({
  [toolsPath]: { ...JSON.parse(new PolicyWorld().said.get(toolsPath) ?? "{}"), ...fields },
});
const pool = { cidr: "10.65.0.0/16", ipip: "", ipip_mode: "", vxlan_mode: "", ipam: true, disabled: false };

export const smallClusters: readonly SmallCluster[] = [
  {
    about: "UDP to a pod is not tracked: conntrack meets the answer first, and it is hidden behind the node (27000965)",
    values: { ...hostEndpoint, ...untrackedUdpIn },
    flows: {
      "ext1 > green/tools udp:8080": "deny",
      "nodeb > green/tools udp:8080": "deny",
      // Into a pool, and out of one that does not hide its pods, addresses stay.
      "red/far > green/tools udp:8080": "allow",
      "ext1 > green/tools udp6:8080": "allow",
      // A rule about UDP alone.
      "ext1 > green/tools tcp:8080": "allow",
    },
  },
  {
    about: "the same with a pool that hides nobody",
    values: { ...hostEndpoint, ...untrackedUdpIn, "/calico/v1/ipam/v4/pool/10.65.0.0-16": pool },
    flows: { "ext1 > green/tools udp:8080": "allow", "nodeb > green/tools udp:8080": "allow" },
  },
  {
    about: "the same where pods hide from the world, but not from nodes",
    values: { ...hostEndpoint, ...untrackedUdpIn, "/calico/v1/config/NATOutgoingExclusions": "IPPoolsAndHostIPs" },
    flows: { "ext1 > green/tools udp:8080": "deny", "nodeb > green/tools udp:8080": "allow" },
  },
  {
    about: "UDP to a pod is not tracked: its egress policies are asked about the answer",
    values: {
      ...hostEndpoint,
      ...untrackedUdpIn,
      "/calico/v1/policy/GlobalNetworkPolicy//pods": {
        tier: "default",
        selector: "!has(h)",
        types: ["egress"],
        inbound_rules: [],
        outbound_rules: [{ action: "allow", protocol: "udp", dst_nets: ["10.65.0.0/16"] }],
      },
    },
    flows: {
      "red/far > green/tools udp:8080": "allow",
      "ext1 > green/tools udp6:8080": "deny",
      "ext1 > green/tools tcp:8080": "allow",
    },
  },
  {
    about: "untracked rules see the answer to a hidden pod at the node's address",
    values: { ...hostEndpoint, ...answersToAnotherAddress },
    flows: { "green/tools > ext1 udp:8080": "allow" },
  },
  {
    about: "the same with an address of its own to hide behind",
    values: { ...hostEndpoint, ...answersToAnotherAddress, "/calico/v1/config/NATOutgoingAddress": "192.0.2.77" },
    flows: { "green/tools > ext1 udp:8080": "deny", "green/tools > red/far udp:8080": "allow" },
  },
  {
    about: "a host endpoint for all interfaces: what is forwarded in by a pod's interface is policed, too",
    values: { ...forAllInterfaces, ...forwarding("ingress", [{ action: "allow", protocol: "tcp" }]) },
    flows: {
      "red/web > red/db tcp:80": "allow",
      "red/web > red/db udp:53": "deny",
      "red/web > ext1 udp:53": "deny",
      "red/far > red/web udp:53": "deny",
      "node > red/web udp:53": "allow",
    },
  },
  {
    about: "the same for what is forwarded out by a pod's interface",
    values: { ...forAllInterfaces, ...forwarding("egress", [{ action: "allow", protocol: "udp" }]) },
    flows: {
      "red/web > red/db tcp:80": "deny",
      "red/web > red/db udp:53": "allow",
      "ext1 > red/web tcp:80": "deny",
      "red/web > ext1 tcp:80": "deny",
      "node > red/web tcp:80": "allow",
    },
  },
  {
    about:
      "the same before addresses are translated, also for what pods send to their node; who is let in there is not asked again",
    values: {
      ...forAllInterfaces,
      ...forwarding("ingress", [{ action: "deny" }]),
      "/calico/v1/policy/GlobalNetworkPolicy//before": {
        tier: "default",
        order: 1,
        selector: "h == '1'",
        types: ["ingress"],
        inbound_rules: [
          { action: "deny", protocol: "udp" },
          { action: "allow", protocol: "tcp", dst_ports: [8080] },
        ],
        outbound_rules: [],
        pre_dnat: true,
        apply_on_forward: true,
      },
    },
    flows: {
      "red/web > node udp:53": "deny",
      "red/web > red/db udp:53": "deny",
      "red/web > red/db tcp:8080": "allow",
      "red/web > red/db tcp:80": "deny",
    },
  },
  {
    about: "Ipv6Support is off: packets of IPv6 are left alone",
    values: {
      ...hostEndpoint,
      "/calico/v1/config/Ipv6Support": "false",
      "/calico/v1/policy/GlobalNetworkPolicy//none": {
        tier: "default",
        selector: "all()",
        types: ["ingress", "egress"],
        inbound_rules: [],
        outbound_rules: [],
      },
    },
    flows: {
      "ext1 > node tcp:80": "deny",
      "ext1 > node tcp6:80": "allow",
      "red/web > red/db tcp:80": "deny",
      "red/web > red/db tcp6:80": "allow",
      "ext1 > red/web tcp6:80": "allow",
    },
  },
  {
    about: "a host endpoint that names an interface with other addresses governs nothing that goes to the node's own",
    values: {
      "/calico/v1/host/node-a/endpoint/a": {
        name: "eth1",
        expected_ipv4_addrs: ["203.0.113.1"],
        labels: {},
        profile_ids: ["projectcalico-default-allow"],
      },
      "/calico/v1/host/node-a/endpoint/b": { name: "eth0", expected_ipv4_addrs: ["192.0.2.1"], labels: {} },
    },
    flows: { "ext1 > node tcp:80": "deny", "ext1 > node tcp:22": "allow", "node > ext1 tcp:443": "deny" },
  },
  {
    about: "the same beside one for all other interfaces",
    values: {
      "/calico/v1/host/node-a/endpoint/a": {
        name: "eth1",
        expected_ipv4_addrs: ["203.0.113.1"],
        labels: {},
        profile_ids: ["projectcalico-default-allow"],
      },
      "/calico/v1/host/node-a/endpoint/b": { name: "*", labels: {} },
    },
    flows: { "ext1 > node tcp:80": "deny", "ext1 > node tcp:22": "allow" },
  },
  {
    about: "a pod that asks for source addresses which its node does not allow is closed",
    values: tools({ allow_spoofed_source_ips: ["203.0.113.0/24"] }),
    flows: {
      "green/tools > red/web tcp:80": "deny",
      "red/web > green/tools tcp:80": "deny",
      "ext1 > green/tools udp:53": "deny",
      "red/web > red/db tcp:80": "allow",
    },
  },
  {
    about: "the same where the node allows them",
    values: {
      ...tools({ allow_spoofed_source_ips: ["203.0.113.0/24"] }),
      "/calico/v1/config/WorkloadSourceSpoofing": "Any",
    },
    flows: { "green/tools > red/web tcp:80": "allow", "red/web > green/tools tcp:80": "allow" },
  },
  {
    about: "an endpoint that is not active is closed in both directions",
    values: tools({ state: "inactive" }),
    flows: {
      "green/tools > red/web tcp:80": "deny",
      "red/web > green/tools tcp:80": "deny",
      "node > green/tools tcp:80": "deny",
    },
  },
];

/** The lab's world with these values in it. */
export function worldWith({ values: own }: SmallCluster): {
  readonly world: PolicyWorld;
  readonly values: Map<string, string>;
} {
  const world = new PolicyWorld();
  const values = new Map(world.said);
  for (const [path, value] of Object.entries(own))
    values.set(path, typeof value === "string" ? value : JSON.stringify(value));
  for (const [path, value] of values) world.data.set(path, value);
  return { world, values };
}
