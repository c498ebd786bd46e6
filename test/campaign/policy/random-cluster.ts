// A random cluster as key/values: labels, ports and profiles of the lab's pods, tiers, policies of every class, sets and services, and now
// and then a host endpoint. Few names, so that they meet each other.
import { PolicyWorld } from "../../kit/policy-world.ts";
import type { Random } from "../../kit/random.ts";

const labelNames = ["a", "b", "c"];
const labelValues = ["1", "2"];
const addresses = ["10.65.0.2", "10.65.0.3", "10.65.0.4", "10.65.1.2", "192.0.2.11", "192.0.2.1", "192.0.2.20"];
const nets4 = [
  "10.65.0.0/16",
  "10.65.0.0/30",
  "10.65.0.4/31",
  "192.0.2.0/24",
  "192.0.2.11/32",
  "10.65.1.2/32",
  "0.0.0.0/0",
];
const nets6 = ["fd65::/64", "fd65::2/128", "2001:db8::/64", "2001:db8::11/128", "::/0"];
const ports = [22, 53, 80, 443, 8080, "1000:1002", "80:443", "8080:9091"];
/** Those that a probe comes from are above. */
const sourcePorts = ["1:1023", "1024:32767", "32768:65535", "http", 80];
const protocols = [..."any any any tcp tcp tcp udp udp icmp icmp icmpv6 sctp udplite".split(" "), 6, 17, 132, 58];
const portProtocols: readonly unknown[] = ["tcp", "udp", "sctp", 6, 17, 132];
/** Beside what policies say; each now and then. */
const settings: readonly (readonly [string, readonly string[]])[] = [
  [
    "FailsafeInboundHostPorts",
    ["none", "tcp:80", "udp:10.65.0.0/16:53", "tcp:[2001:db8::/64]:80,tcp:192.0.2.11/32:80"],
  ],
  ["FailsafeOutboundHostPorts", ["none", "tcp:80", "udp:192.0.2.0/24:53", "tcp:[2001:db8::/64]:80"]],
  ["NATOutgoingExclusions", ["IPPoolsAndHostIPs"]],
  ["NftablesMarkMask", ["0x700", "0xe0000000"]],
  ["DisableConntrackInvalidCheck", ["true"]],
  ["Ipv6Support", ["false"]],
];

export type RandomCluster = { readonly world: PolicyWorld; readonly values: Map<string, string> };

export function randomCluster(random: Random): RandomCluster {
  const world = new PolicyWorld();
  const values = new Map(world.said);
  for (const [path, text] of world.said)
    if (/\/workload\//.test(path)) values.set(path, JSON.stringify({ ...JSON.parse(text), ...randomPod(random) }));
  // Fewer pods now and then: those that are left out are interfaces without an endpoint.
  const pods = [...values.keys()].filter((path) => /node-a\/workload\//.test(path));
  if (random.isOneIn(3)) values.delete(random.pick(pods));
  for (const name of ["p", "q"]) {
    if (random.isOneIn(6)) continue; // used by pods all the same: a profile that is missing
    values.set(`/calico/v1/policy/profile/${name}/rules`, JSON.stringify(randomRules(random, 2)));
    values.set(`/calico/v1/policy/profile/${name}/labels`, JSON.stringify(randomLabels(random)));
  }
  for (const name of ["t1", "t2"])
    if (!random.isOneIn(4))
      values.set(
        `/calico/v1/policy/tier/${name}/metadata`,
        JSON.stringify({
          ...(random.isOneIn(3) ? {} : { order: random.below(3) }),
          ...(random.isOneIn(2) ? { defaultAction: random.pick(["Pass", "Deny"]) } : {}),
        }),
      );
  for (let number = random.below(7); number > 0; number -= 1) addPolicy(values, random, number);
  for (const name of ["s1", "s2"])
    values.set(
      `/calico/v1/netset/${name}`,
      JSON.stringify({
        nets: pickSome(random, [...nets4, ...nets6.slice(0, 4)], 3),
        labels: randomLabels(random),
        profile_ids: random.isOneIn(2) ? ["p"] : [],
      }),
    );
  for (const name of ["web", "dns"]) if (random.isOneIn(2)) addService(values, random, name);
  if (random.isOneIn(4)) addHostEndpoint(values, random);
  for (const [name, texts] of settings)
    if (random.isOneIn(8)) values.set(`/calico/v1/config/${name}`, random.pick(texts));
  for (const path of world.said.keys()) if (!values.has(path)) world.data.set(path, undefined);
  for (const [path, value] of values) world.data.set(path, value);
  return { world, values };
}

function addPolicy(values: Map<string, string>, random: Random, number: number): void {
  const kind = random.pick([
    "GlobalNetworkPolicy",
    "GlobalNetworkPolicy",
    "GlobalNetworkPolicy",
    "StagedGlobalNetworkPolicy",
  ]);
  const policyClass = random.below(12);
  const value = {
    tier: random.pick(["default", "default", "t1", "t2"]),
    ...(random.isOneIn(3) ? {} : { order: random.below(4) }),
    selector: randomSelector(random, 2),
    ...(random.isOneIn(4) ? {} : { types: random.pick([["ingress"], ["egress"], ["ingress", "egress"]]) }),
    ...randomRules(random, 3),
    ...(policyClass === 0 ? { untracked: true, apply_on_forward: true } : {}),
    ...(policyClass === 1 ? { pre_dnat: true, apply_on_forward: true } : {}),
    ...(policyClass === 2 || policyClass === 3 ? { apply_on_forward: true } : {}),
  };
  values.set(`/calico/v1/policy/${kind}//n${number}`, JSON.stringify(value));
}

function addService(values: Map<string, string>, random: Random, name: string): void {
  const slice = {
    metadata: { name: `${name}-x`, namespace: "red", labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: pickSome(random, [...addresses.slice(0, 5), "fd65::2", "fd65::3", "fd65::4"], 3).map((address) => ({
      addresses: [address],
    })),
    ports: [
      {
        port: random.pick([80, 8080]),
        ...(random.isOneIn(2) ? { protocol: random.pick(["TCP", "UDP", "SCTP"]) } : {}),
      },
    ],
  };
  values.set(`/calico/resources/v3/projectcalico.org/kubernetesendpointslices/red/${name}-x`, JSON.stringify(slice));
}

function addHostEndpoint(values: Map<string, string>, random: Random): void {
  const value = {
    ...random.pick([{ name: "eth0" }, { name: "*" }, { expected_ipv4_addrs: ["192.0.2.1"] }]),
    labels: randomLabels(random),
    profile_ids: random.isOneIn(2) ? ["projectcalico-default-allow"] : [],
    ports: random.isOneIn(2) ? [{ name: "http", protocol: "tcp", port: 80 }] : [],
  };
  values.set("/calico/v1/host/node-a/endpoint/h", JSON.stringify(value));
}

function randomPod(random: Random): object {
  return {
    labels: randomLabels(random),
    profile_ids: random.pick([["p"], ["p", "q"], ["kns.red"], ["kns.red"], []]),
    ports: random.isOneIn(2)
      ? [
          { name: "http", protocol: "tcp", port: random.pick([80, 8080]) },
          { name: "dns", protocol: "udp", port: 53 },
        ]
      : [],
  };
}

function randomRules(random: Random, most: number): object {
  const list = () => Array.from({ length: random.below(most + 1) }, () => randomRule(random));
  return { inbound_rules: list(), outbound_rules: list() };
}

function randomRule(random: Random): object {
  const rule: { [field: string]: unknown } = { action: random.pick(["allow", "allow", "deny", "next-tier", "log"]) };
  const protocol = random.pick(protocols);
  if (protocol !== "any") rule.protocol = protocol;
  if (random.isOneIn(protocol === "any" ? 6 : 12))
    rule["!protocol"] = random.pick(["tcp", "udp", "icmp", "icmpv6", "sctp", 6]);
  if (random.isOneIn(8)) rule.ip_version = random.pick([4, 6]);
  const hasPorts = portProtocols.includes(protocol);
  for (const side of ["src", "dst"]) {
    if (random.isOneIn(3)) rule[`${side}_selector`] = randomSelector(random, 1);
    if (random.isOneIn(8)) rule[`!${side}_selector`] = randomSelector(random, 1);
    if (random.isOneIn(6)) rule[`${side}_nets`] = pickSome(random, [...nets4, ...nets6], 3);
    if (random.isOneIn(8)) rule[`!${side}_nets`] = pickSome(random, [...nets4.slice(0, 6), ...nets6.slice(0, 4)], 2);
  }
  if (hasPorts && random.isOneIn(2)) rule.dst_ports = pickSome(random, [...ports, "http", "dns"], 3);
  if (hasPorts && random.isOneIn(6)) rule["!dst_ports"] = pickSome(random, [...ports, "http"], 2);
  if (hasPorts && random.isOneIn(8)) rule.src_ports = pickSome(random, sourcePorts, 2);
  if (hasPorts && random.isOneIn(10)) rule["!src_ports"] = pickSome(random, sourcePorts, 2);
  // Names alone need no protocol.
  if (protocol === "any" && random.isOneIn(10))
    rule[random.pick(["dst_ports", "!dst_ports", "src_ports"])] = pickSome(random, ["http", "dns"], 2);
  const isIcmp = protocol === "icmp" || protocol === "icmpv6" || protocol === 58 || protocol === "any";
  if (isIcmp && random.isOneIn(protocol === "any" ? 12 : 2)) rule.icmp_type = random.pick([8, 13, 128]);
  if (rule.icmp_type !== undefined && random.isOneIn(2)) rule.icmp_code = random.pick([0, 1]);
  if (isIcmp && random.isOneIn(protocol === "any" ? 16 : 4)) rule["!icmp_type"] = random.pick([8, 13, 128]);
  if (rule["!icmp_type"] !== undefined && random.isOneIn(2)) rule["!icmp_code"] = random.pick([0, 1]);
  if (rule.dst_ports === undefined && random.isOneIn(12))
    Object.assign(rule, { dst_service: random.pick(["web", "dns"]), dst_service_ns: "red" });
  else if (random.isOneIn(12)) Object.assign(rule, { src_service: "web", src_service_ns: "red" });
  return rule;
}

function randomSelector(random: Random, depth: number): string {
  const [label, value] = [random.pick(labelNames), random.pick(labelValues)];
  const simple = [
    "all()",
    "",
    `${label} == '${value}'`,
    `${label} == '${value}'`,
    `${label} != '${value}'`,
    `has(${label})`,
    `!has(${label})`,
    `${label} in {'1', '2'}`,
    `${label} not in {'${value}'}`,
    `${label} starts with '${value}'`,
  ];
  if (depth === 0 || random.isOneIn(2)) return random.pick(simple);
  const inner = () => randomSelector(random, depth - 1) || "all()";
  return random.pick([`(${inner()}) && (${inner()})`, `(${inner()}) || (${inner()})`, `!(${inner()})`]);
}

function randomLabels(random: Random): object {
  return Object.fromEntries(
    labelNames.flatMap((name) => (random.isOneIn(3) ? [] : [[name, random.pick(labelValues)]])),
  );
}

function pickSome<T>(random: Random, from: readonly T[], most: number): readonly T[] {
  return [...new Set(Array.from({ length: 1 + random.below(most) }, () => random.pick(from)))];
}
