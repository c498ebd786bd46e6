// What a host says of itself: its name and address, the kernel's settings, firewalls of others, BIRD, the plugin's files.
import { plainText } from "../../../base/lib/index.ts";
import type { ClusterFacts, HostFacts, Probe } from "../facts.ts";
import { at, finding, type NodeFinding } from "../finding.ts";
import { bare, duplicates, nodeNamed } from "../networks.ts";
import { interfaceOfPod } from "../pod-interface.ts";
import { checkAgent } from "./agent.ts";
import { checkPlugin } from "./plugin.ts";
import { checkRoutingRules } from "./routing-rules.ts";
import { suspectOf, suspectText } from "./suspects.ts";

export function checkHost(
  host: HostFacts,
  { cluster, nowMs }: { cluster: ClusterFacts; nowMs: number },
): NodeFinding[] {
  return [
    ...checkName(host, cluster),
    ...checkAddress(host, cluster),
    ...checkKernel(host, cluster),
    ...checkBird(host, cluster),
    ...checkPlugin(host, cluster, nowMs),
    ...checkAgent(host, cluster),
    ...checkRoutingRules(host, cluster),
  ];
}

function checkName({ node, nameFrom, cni }: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  const hasBlocks = [...cluster.blocks, ...cluster.affinities].some((each) => each.node === node);
  // Of one that was deleted, that is told: BLOCK_WITHOUT_NODE.
  if (nodeNamed(node, cluster) === undefined && hasBlocks) return [];
  if (nodeNamed(node, cluster) === undefined)
    return [
      finding({
        code: "NODE_UNKNOWN",
        node,
        what: `this host is ${JSON.stringify(node)} (${nameFrom}), and the datastore has ${cluster.nodes.map(({ name }) => name).join(", ") || "no nodes"}`,
        explains: at(node),
      }),
    ];
  if (cni.nodeNameFile === node) return [];
  const what =
    cni.nodeNameFile === undefined
      ? "/var/lib/calico/nodename is not there"
      : `/var/lib/calico/nodename says ${JSON.stringify(cni.nodeNameFile)}, and this node is ${node}`;
  return [finding({ code: "NODE_NAME_FILE", node, what })];
}

function checkAddress({ node, addresses }: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  const address = nodeNamed(node, cluster)?.address;
  const isTwice = [...duplicates(cluster).values()].some((names) => names.includes(node));
  if (address === undefined || isTwice) return [];
  const others = addressesOfOthers({ node, addresses }, cluster);
  if (addresses.some((own) => bare(own.address) === bare(address))) return others;
  return [
    ...others,
    finding({
      code: "NODE_ADDRESS_STALE",
      node,
      what: `the datastore has ${bare(address)} for ${node}, which is on none of its interfaces`,
      evidence: addresses.map((own) => `${own.link}: ${own.address}`),
      explains: at(node),
    }),
  ];
}

/** That both have it the datastore does not know: one got it by hand, or by a lease that was given twice. */
function addressesOfOthers(
  { node, addresses }: Pick<HostFacts, "node" | "addresses">,
  cluster: ClusterFacts,
): NodeFinding[] {
  return addresses.flatMap((own) => {
    const other = cluster.nodes.find(
      (each) => each.name !== node && each.address !== undefined && bare(each.address) === bare(own.address),
    );
    if (other === undefined) return [];
    return [
      finding({
        code: "NODE_ADDRESS_DUPLICATE",
        node,
        what: `${node} has the address ${bare(own.address)} of ${other.name}, on ${own.link}`,
        evidence: [`${own.link} of ${node}: ${own.address}`, `node ${other.name}: ${other.address}`],
        fix: `ip address delete ${own.address} dev ${own.link}, on ${node}; and look for who sets it: its network configuration, or the DHCP server`,
        explains: at(other.name),
      }),
    ];
  });
}

const forwardingFix6 =
  "sysctl -w net.ipv6.conf.all.forwarding=1; look for who turns it off again: grep -r forwarding /etc/sysctl.d /usr/lib/sysctl.d";

/** The kernel's switch for all interfaces. */
export const forwardingOf = { 4: "net.ipv4.ip_forward", 6: "net.ipv6.conf.all.forwarding" } as const;

function checkKernel(host: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  const { node, features, conntrack } = host;
  const lacking = features
    .filter(({ isThere }) => !isThere)
    .map(({ name, says }) => finding({ code: "KERNEL_FEATURE", node, what: `${name}: ${plainText(says)}` }));
  const isFull = conntrack !== undefined && conntrack.max > 0 && conntrack.count >= conntrack.max;
  const full = isFull
    ? [
        finding({
          code: "CONNTRACK_FULL",
          node,
          what: `${node} follows ${conntrack.count} connections, and may follow ${conntrack.max}`,
          evidence: ["sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max"],
          explains: at(node),
        }),
      ]
    : [];
  return [...checkForwarding(host, cluster), ...checkForeignDrops(host), ...lacking, ...full];
}

function isPodTrafficAt(node: string): NodeFinding["explains"] {
  return (probe) => probe.kind !== "node" && at(node)(probe);
}

/** The switch for all interfaces, and in IPv4 one more for each, which the interface that a packet arrives on is asked for. */
function checkForwarding({ node, sysctls, links }: HostFacts, { family, pods }: ClusterFacts): NodeFinding[] {
  if (sysctls[forwardingOf[family]] === "0")
    return [
      finding({
        code: "FORWARDING_OFF",
        node,
        what: `${node} does not forward ${family === 6 ? "IPv6 " : ""}packets`,
        evidence: [`sysctl ${forwardingOf[family]}: 0`],
        explains: isPodTrafficAt(node),
        ...(family === 6 ? { fix: forwardingFix6 } : {}),
      }),
    ];
  if (family === 6) return [];
  return links.flatMap(({ name }) => {
    const sysctl = linkForwarding(name);
    if (sysctls[sysctl] !== "0") return [];
    const pod = pods.find((each) => each.node === node && interfaceOfPod(each) === name);
    const isOfPod = ({ from, address }: Probe) =>
      pod !== undefined && (from === `${pod.namespace}/${pod.name}` || address === pod.address);
    return [
      finding({
        code: "FORWARDING_OFF",
        node,
        what: `${node} does not forward packets that arrive on ${name}`,
        evidence: [`sysctl ${sysctl}: 0`],
        fix: `sysctl -w net/ipv4/conf/${name}/forwarding=1; look for who turns it off again: grep -r forwarding /etc/sysctl.d /usr/lib/sysctl.d`,
        explains: pod === undefined ? isPodTrafficAt(node) : isOfPod,
      }),
    ];
  });
}

function linkForwarding(link: string): string {
  return `net.ipv4.conf.${link}.forwarding`;
}

/** One that lets pings of pods through all the same has an accept for them before it. */
function checkForeignDrops({ node, foreignDrops, probes }: HostFacts): NodeFinding[] {
  if (probes.some(({ kind, ok, node: to }) => kind === "pod to pod" && ok && to !== node)) return [];
  return foreignDrops.map(({ table, chain, what, command }) =>
    finding({
      code: "FOREIGN_FORWARD_DROP",
      node,
      what: `the chain ${chain} of the table ${table} on ${node} drops what is forwarded: ${what}`,
      evidence: [command],
      explains: isPodTrafficAt(node),
    }),
  );
}

function checkBird(host: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  const { node, bird, probes, signatureDrops } = host;
  // Of a node that nobody knows, nobody keeps up a session: that is told.
  if (bird === undefined || nodeNamed(node, cluster) === undefined) return [];
  if (bird.silent !== undefined)
    return [finding({ code: "BIRD_SILENT", node, what: `BIRD on ${node}: ${bird.silent}`, explains: at(node) })];
  // Of two nodes with one address nobody knows whose session it is, and that is told.
  const twice = duplicates(cluster);
  const isAmbiguous = (address: string) =>
    twice.has(address) || [...twice.values()].some((names) => names.includes(node));
  const notUp = bird.sessions.filter(({ state }) => state !== "Established");
  const nameOf = (address: string) =>
    cluster.nodes.find((each) => each.address !== undefined && bare(each.address) === address)?.name;
  const known = notUp.filter(({ address }) => !isAmbiguous(address));
  const twins = known.flatMap(({ address }) => twinsOf(node, nameOf(address), cluster));
  const down = known.filter(({ address }) => twinsOf(node, nameOf(address), cluster).length === 0);
  // A BIRD that waits for nobody but those waits because of them.
  if (notUp.length > 0 && down.length === 0) return twins;
  if (bird.waits !== undefined)
    return [
      finding({
        code: "BGP_WAITS",
        node,
        what: `BIRD on ${node} holds its routes back: ${bird.waits}`,
        evidence: down.map(({ address, state }) => `session with ${nameOf(address) ?? address}: ${state}`),
        explains: at(node),
        isOfOtherFamily: bird.isWaitOfOtherFamily,
      }),
    ];
  const sessions = down.map(({ address, state, info }) => {
    const peer = nameOf(address);
    const knocked = probes.find((probe) => probe.kind === "bgp" && probe.address === address);
    const asked = { from: node, fromNode: node, to: peer ?? address, node: peer ?? "", address, ok: false } as const;
    const signed = (signatureDrops ?? 0) > 0;
    const suspected = suspectOf({ kind: "bgp", ...asked }, [host], cluster);
    const evidence = [
      `birdc show protocols: ${state}${info === "" ? "" : `, ${info}`}`,
      ...(knocked === undefined || knocked.ok ? [] : [`TCP port 179 of ${address}: ${knocked.says ?? "no answer"}`]),
      ...(suspected === undefined ? [] : [`the firewall of ${node} drops it: ${suspectText(suspected.rule)}`]),
      ...(signed
        ? [`the kernel of ${node} dropped ${signatureDrops} segments because of their signature (TCP MD5)`]
        : []),
    ];
    const fix = sessionFix({ info, signed, isOpen: knocked?.ok === true });
    return finding({
      code: "BGP_SESSION_DOWN",
      node,
      what: `the session of ${node} with ${peer === undefined ? address : `${peer} (${address})`} is not established`,
      evidence,
      ...(fix === undefined ? {} : { fix }),
      // Not that the node itself is silent: then the session is the consequence.
      explains: isOfPodsBetween(node, peer),
    });
  });
  return [...twins, ...sessions];
}

function isOfPodsBetween(node: string, peer: string | undefined): NodeFinding["explains"] {
  return ({ kind, fromNode, node: to }) =>
    kind !== "node" && kind !== "large" && ((fromNode === node && to === peer) || (fromNode === peer && to === node));
}

/** Their IPv4 address is one, and so is their identifier: there is no session of IPv6 between them either. */
function twinsOf(node: string, peer: string | undefined, { identifiers }: ClusterFacts): NodeFinding[] {
  const found = [...(identifiers ?? [])].find(
    ([, names]) => peer !== undefined && names.includes(node) && names.includes(peer),
  );
  if (found === undefined) return [];
  return [
    finding({
      code: "NODE_ADDRESS_DUPLICATE",
      what: `${found[1].join(" and ")} both have the address ${found[0]}, which is their identifier in BGP, too`,
      explains: isOfPodsBetween(node, peer),
      isOfOtherFamily: true,
    }),
  ];
}

/** Undefined: that of the catalogue, which is about the port. */
function sessionFix(seen: {
  readonly info: string;
  readonly signed: boolean;
  readonly isOpen: boolean;
}): string | undefined {
  if (/No route to host|Network is unreachable/i.test(seen.info))
    return "no machine answers at that address: see that it runs, and whether the BGPPeer names the right one: cattail ctl get bgppeers -o wide";
  if (/bad peer AS/i.test(seen.info))
    return "both ends have to agree on their AS numbers: cattail ctl get node NAME -o yaml (spec.bgp.asNumber), asNumber of BGPConfiguration default and of the BGPPeer; then restart the agent whose BIRD has the old one";
  if (seen.signed) return "both ends need the same password: the BGPPeer's password and its Secret, on both nodes";
  return seen.isOpen
    ? "the port answers, so the two BIRDs refuse each other: compare AS numbers, addresses and passwords of the BGPPeers, and see BIRD's log on both nodes"
    : undefined;
}
