// What a host says of itself: its name and address, the kernel's settings, firewalls of others, BIRD, the plugin's files.
import { plainText } from "../../../base/lib/index.ts";
import type { ClusterFacts, HostFacts } from "../facts.ts";
import { at, finding, type NodeFinding } from "../finding.ts";
import { bare, duplicates, nodeNamed } from "../networks.ts";
import { interfaceOfPod } from "../pod-interface.ts";
import { missingRights } from "./cluster.ts";

const dayMs = 86_400_000;

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
    ...checkTypha(host),
    ...checkAgents(host),
    ...checkLeftovers(host, cluster),
  ];
}

function checkName({ node, nameFrom, cni }: HostFacts, cluster: ClusterFacts): NodeFinding[] {
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
  if (address === undefined || isTwice || addresses.some((own) => bare(own.address) === bare(address))) return [];
  return [
    finding({
      code: "NODE_ADDRESS_STALE",
      node,
      what: `the datastore has ${bare(address)} for ${node}, which is on none of its interfaces`,
      evidence: addresses.map((own) => `${own.link}: ${own.address}`),
      explains: at(node),
    }),
  ];
}

const forwardingFix6 =
  "sysctl -w net.ipv6.conf.all.forwarding=1; look for who turns it off again: grep -r forwarding /etc/sysctl.d /usr/lib/sysctl.d";

/** The kernel's switch for all interfaces. */
export const forwardingOf = { 4: "net.ipv4.ip_forward", 6: "net.ipv6.conf.all.forwarding" } as const;

function checkKernel({ node, sysctls, foreignDrops, features }: HostFacts, { family }: ClusterFacts): NodeFinding[] {
  const isPodTraffic = (probe: Parameters<NodeFinding["explains"]>[0]) => probe.kind !== "node" && at(node)(probe);
  const forwarding =
    sysctls[forwardingOf[family]] === "0"
      ? [
          finding({
            code: "FORWARDING_OFF",
            node,
            what: `${node} does not forward ${family === 6 ? "IPv6 " : ""}packets`,
            evidence: [`sysctl ${forwardingOf[family]}: 0`],
            explains: isPodTraffic,
            ...(family === 6 ? { fix: forwardingFix6 } : {}),
          }),
        ]
      : [];
  const drops = foreignDrops.map(({ table, chain, what, command }) =>
    finding({
      code: "FOREIGN_FORWARD_DROP",
      node,
      what: `the chain ${chain} of the table ${table} on ${node} drops what is forwarded: ${what}`,
      evidence: [command],
      explains: isPodTraffic,
    }),
  );
  const lacking = features
    .filter(({ isThere }) => !isThere)
    .map(({ name, says }) => finding({ code: "KERNEL_FEATURE", node, what: `${name}: ${plainText(says)}` }));
  return [...forwarding, ...drops, ...lacking];
}

function checkBird({ node, bird, probes }: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  if (bird === undefined) return [];
  if (bird.silent !== undefined)
    return [finding({ code: "BIRD_SILENT", node, what: `BIRD on ${node}: ${bird.silent}`, explains: at(node) })];
  // Of two nodes with one address nobody knows whose session it is, and that is told.
  const twice = duplicates(cluster);
  const isAmbiguous = (address: string) =>
    twice.has(address) || [...twice.values()].some((names) => names.includes(node));
  const notUp = bird.sessions.filter(({ state }) => state !== "Established");
  const down = notUp.filter(({ address }) => !isAmbiguous(address));
  // A BIRD that waits for nobody but those waits because of them.
  if (notUp.length > 0 && down.length === 0) return [];
  const nameOf = (address: string) =>
    cluster.nodes.find((each) => each.address !== undefined && bare(each.address) === address)?.name;
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
  return down.map(({ address, state, info }) => {
    const peer = nameOf(address);
    const knocked = probes.find((probe) => probe.kind === "bgp" && probe.address === address);
    const evidence = [
      `birdc show protocols: ${state}${info === "" ? "" : `, ${info}`}`,
      ...(knocked === undefined || knocked.ok ? [] : [`TCP port 179 of ${address}: ${knocked.says ?? "no answer"}`]),
    ];
    return finding({
      code: "BGP_SESSION_DOWN",
      node,
      what: `the session of ${node} with ${peer === undefined ? address : `${peer} (${address})`} is not established`,
      evidence,
      // Not that the node itself is silent: then the session is the consequence.
      explains: ({ kind, fromNode, node: to }) =>
        kind !== "node" &&
        kind !== "large" &&
        ((fromNode === node && to === peer) || (fromNode === peer && to === node)),
    });
  });
}

function checkPlugin({ node, cni, links }: HostFacts, cluster: ClusterFacts, nowMs: number): NodeFinding[] {
  if (cni.file === undefined)
    return [
      finding({
        code: "CNI_CONFIGURATION_MISSING",
        node,
        what: `/etc/cni/net.d on ${node} has no Calico configuration`,
      }),
    ];
  const found = missingRights(cni.missingRights ?? [], node);
  const { credentials } = cni;
  if (credentials !== undefined) {
    const { file, expiresMs, of = "certificate", broken } = credentials;
    const date = expiresMs === undefined ? "" : new Date(expiresMs).toISOString().slice(0, 16);
    if (broken !== undefined || (expiresMs !== undefined && expiresMs <= nowMs)) {
      const what = broken ?? `its ${of} expired at ${date}Z`;
      found.push(finding({ code: "CNI_CREDENTIALS_EXPIRED", node, what: `${file} on ${node}: ${what}` }));
    } else if (expiresMs !== undefined && of === "certificate" && expiresMs - nowMs < 30 * dayMs)
      found.push(
        finding({
          code: "CNI_CREDENTIALS_EXPIRE_SOON",
          node,
          what: `${file} on ${node}: its ${of} expires at ${date}Z`,
        }),
      );
  }
  const tunnel = tunnelOf(cluster.family, links);
  const isTunnelled = cluster.pools.some(({ vxlan, isDisabled }) => vxlan === "Always" && !isDisabled);
  if (tunnel !== undefined && isTunnelled && cni.mtu !== undefined && cni.mtu > tunnel.mtu)
    found.push(
      finding({
        code: "MTU_PODS",
        node,
        what: `${cni.file} on ${node} gives pods an MTU of ${cni.mtu}, and ${tunnel.name} takes ${tunnel.mtu}`,
      }),
    );
  return found;
}

/** By its name; a device that somebody has named otherwise is IPv4's. */
function tunnelOf(family: ClusterFacts["family"], links: HostFacts["links"]): HostFacts["links"][number] | undefined {
  const six = "vxlan-v6.calico";
  if (family === 6) return links.find(({ name }) => name === six);
  return (
    links.find(({ name }) => name === "vxlan.calico") ??
    links.find(({ name, kind }) => kind === "vxlan" && name !== six)
  );
}

function checkAgents({ node, ruleOwners }: HostFacts): NodeFinding[] {
  if (ruleOwners.length < 2) return [];
  return [
    finding({
      code: "AGENTS_TWO",
      node,
      what: `${node} has packet rules of two agents: Cattail's and the original's`,
      evidence: ["nft list tables: inet cattail, and calico (or chains cali-* of iptables)"],
    }),
  ];
}

function checkTypha({ node, typha }: HostFacts): NodeFinding[] {
  if (typha?.problem === undefined) return [];
  return [
    finding({
      code: "NODE_TYPHA_UNREACHABLE",
      node,
      what: `Typha at ${typha.address}, from ${node}: ${typha.problem}`,
    }),
  ];
}

/** Where no pod is known at all, nobody can tell whose an interface is. */
function checkLeftovers({ node, links }: HostFacts, { pods }: ClusterFacts): NodeFinding[] {
  if (pods.length === 0) return [];
  const known = new Set(pods.map(interfaceOfPod));
  return links
    .filter(({ name, kind }) => /^cali[0-9a-f]{11}$/.test(name) && kind === "veth" && !known.has(name))
    .map(({ name }) => finding({ code: "LEFTOVER_INTERFACE", node, what: `${name} on ${node} belongs to no pod` }));
}
