// What the datastore alone says: whether it is ready, nodes and their addresses, pools, blocks.
import { nodeCatalogue } from "../catalogue.ts";
import type { ClusterFacts, Facts, PoolFact, Probe, Unreadable } from "../facts.ts";
import { at, finding, type NodeFinding } from "../finding.ts";
import {
  bare,
  duplicates,
  hasNoIpip,
  isIn,
  isSameSubnet,
  nodeNamed,
  overlap,
  poolOf,
  wayBetween,
} from "../networks.ts";

export function checkCluster(facts: Facts): NodeFinding[] {
  const { cluster } = facts;
  return [
    ...checkReading(cluster),
    ...checkAddresses(facts),
    ...checkSubnets(facts),
    ...checkPools(facts),
    ...checkPoolsGone(cluster),
    ...checkIpip(facts),
    ...checkBlocks(facts),
  ];
}

function checkReading({ datastoreReady, unreadable }: ClusterFacts): NodeFinding[] {
  const locked =
    datastoreReady === false
      ? [
          finding({
            code: "DATASTORE_LOCKED",
            what: "ClusterInformation default says datastoreReady: false",
            evidence: ["cattail ctl get clusterinformation default -o yaml"],
          }),
        ]
      : [];
  const rights = missingRights(unreadable.filter(({ rule }) => rule !== undefined));
  const rest = unreadable
    .filter(({ rule }) => rule === undefined)
    .map(({ what, why }) => finding({ code: "DATASTORE_UNREADABLE", what: `${what}: ${why}` }));
  return [...locked, ...rights, ...rest];
}

/** One finding for all of an account, with rules to paste. */
export function missingRights(missing: readonly Unreadable[], node = ""): NodeFinding[] {
  if (missing.length === 0) return [];
  const rules = new Set(missing.map(({ rule = "" }) => rule.trimEnd()));
  return [
    finding({
      code: "NODE_RIGHTS_MISSING",
      node,
      what: missing.map(({ why }) => why).join("; "),
      evidence: missing.map(({ what }) => what),
      fix: `add to the ClusterRole of the account:\n${[...rules].join("\n")}`,
    }),
  ];
}

function checkAddresses({ cluster, hosts }: Facts): NodeFinding[] {
  const twice = duplicates(cluster);
  const isTwice = (name: string) => [...twice.values()].some((names) => names.includes(name));
  const same = [...twice].map(([address, names]) =>
    finding({
      code: "NODE_ADDRESS_DUPLICATE",
      what: `${names.join(" and ")} both have the address ${address}`,
      evidence: names.map((name) => `node ${name}: projectcalico.org/IPv${cluster.family}Address ${address}`),
      explains: (probe) => names.some((name) => at(name)(probe)),
    }),
  );
  const each = cluster.nodes.flatMap(({ name, address, internalAddresses }) => {
    if (address === undefined)
      return [
        finding({
          code: "NODE_ADDRESS_MISSING",
          node: name,
          what: `the node ${name} has no IPv${cluster.family} address in the datastore`,
          fix: nodeCatalogue.NODE_ADDRESS_MISSING.fix.replace("IP=", cluster.family === 6 ? "IP6=" : "IP="),
          explains: at(name),
        }),
      ];
    const isOther = internalAddresses.length > 0 && !internalAddresses.includes(bare(address));
    if (!isOther || isTwice(name)) return [];
    const what = `the node ${name} has the address ${bare(address)}, and Kubernetes knows it by ${internalAddresses.join(", ")}`;
    const isSilent = hosts.some(({ probes }) =>
      probes.some(({ kind, node, ok }) => kind === "node" && node === name && !ok),
    );
    // Where nobody answers at it, or it is nobody's way to the others, it is more than a curiosity.
    const isBroken = isSilent ? ({ level: "broken", explains: at(name) } as const) : {};
    return [finding({ code: "NODE_ADDRESS_OTHER", node: name, what, ...isBroken })];
  });
  return [...same, ...each];
}

/** Where packets get through nevertheless, somebody has taught the router. */
function checkSubnets({ cluster, hosts }: Facts): NodeFinding[] {
  const [first] = cluster.nodes.filter(({ address }) => address !== undefined);
  const elsewhere = cluster.nodes.filter(
    (node) => first !== undefined && node.address !== undefined && !isSameSubnet(first, node),
  );
  if (first === undefined || elsewhere.length === 0 || duplicates(cluster).size > 0) return [];
  const networkOf = (name: string) => cluster.nodes.find((node) => node.name === name);
  const isAcross = ({ fromNode, node }: Probe) => {
    const [one, other] = [networkOf(fromNode), networkOf(node)];
    return one !== undefined && other !== undefined && !isSameSubnet(one, other);
  };
  const isPod = ({ kind }: Probe) => kind === "pod" || kind === "pod to pod" || kind === "arrival";
  if (hosts.some(({ probes }) => probes.some((probe) => isPod(probe) && probe.ok && isAcross(probe)))) return [];
  return cluster.pools
    .filter(({ vxlan, ipip }) => vxlan === "Never" && ipip === "Never")
    .filter(({ cidr, isDisabled }) => !isDisabled || cluster.blocks.some((block) => isIn(block.cidr, cidr)))
    .map((pool) =>
      finding({
        code: "SUBNETS_WITHOUT_ENCAPSULATION",
        what: `the pool ${pool.name} has no encapsulation, and ${elsewhere.map(({ name }) => name).join(", ")} ${elsewhere.length === 1 ? "is" : "are"} not in the network of ${first.name}`,
        evidence: [first, ...elsewhere].map(({ name, address }) => `${name}: ${address}`),
        fix: `cattail ctl patch ippool ${pool.name} -p '{"spec":{"vxlanMode":"CrossSubnet"}}'`,
        explains: (probe) => isPod(probe) && isAcross(probe) && isIn(probe.address, pool.cidr),
      }),
    );
}

function checkPools({ cluster, hosts }: Facts): NodeFinding[] {
  const { pools, pods, nodes, serviceRanges } = cluster;
  const isEnabled = (asked: string) =>
    pools.some(({ name, cidr, isDisabled }) => (name === asked || cidr === asked) && !isDisabled);
  const asked = pods
    .filter(({ address }) => address === undefined)
    .flatMap(({ namespace, name, asksForPools }) => {
      const bad = asksForPools.filter((pool) => !isEnabled(pool));
      if (bad.length === 0) return [];
      const fix = bad.map((pool) => `cattail ctl patch ippool ${pool} -p '{"spec":{"disabled":false}}'`).join("\n");
      const what = `the pod ${namespace}/${name} asks for ${bad.join(", ")}, which ${bad.length === 1 ? "is" : "are"} disabled or not there`;
      return [finding({ code: "POOL_ASKED_IS_DISABLED", what, fix })];
    });
  // Where another IPAM gives the addresses there may well be none.
  const areNeeded = pools.length > 0 || hosts.some(({ cni }) => cni.ipam === "calico-ipam");
  const none = areNeeded && pools.every(({ isDisabled }) => isDisabled) ? [noPool(cluster)] : [];
  return [...asked, ...none, ...pools.flatMap((pool) => overlapsOf(pool, nodes, serviceRanges))];
}

function noPool({ pools, family }: ClusterFacts): NodeFinding {
  const code = "POOL_NONE_ENABLED";
  if (pools.length === 0)
    return finding({ code, what: `there is no IPv${family} pool`, fix: "make one: cattail ctl create -f POOL.yaml" });
  const what = pools.length === 1 ? `the only IPv${family} pool is` : `all ${pools.length} IPv${family} pools are`;
  return finding({ code, what: `${what} disabled` });
}

const mostServices = 3;

function overlapsOf(
  { name, cidr }: PoolFact,
  nodes: ClusterFacts["nodes"],
  serviceRanges: readonly string[],
): NodeFinding[] {
  const inside = nodes.filter(({ address }) => address !== undefined && isIn(bare(address), cidr));
  const services = serviceRanges.filter((range) => overlap(range, cidr));
  if (inside.length + services.length === 0) return [];
  const evidence = [
    ...inside.map((node) => `${node.name}: ${node.address}`),
    ...services.slice(0, mostServices).map((range) => `services: ${range}`),
  ];
  const what = `the pool ${name} (${cidr}) overlaps ${inside.length > 0 ? "the addresses of nodes" : "the range of services"}`;
  return [finding({ code: "POOL_OVERLAP", what, evidence })];
}

/** Of addresses that are in use: an empty block of a pool that was removed in good order waits for the next clean-up. */
function checkPoolsGone({ blocks, pools, unreadable }: ClusterFacts): NodeFinding[] {
  const isKnown = !unreadable.some(({ what }) => what === "IPPool");
  const gone = blocks.filter(({ cidr, inUse }) => isKnown && inUse > 0 && poolOf(cidr, pools) === undefined);
  if (gone.length === 0) return [];
  return [
    finding({
      code: "POOL_GONE",
      what: `${gone.map(({ cidr }) => cidr).join(", ")} ${gone.length === 1 ? "is" : "are"} in no pool, and addresses of ${gone.length === 1 ? "it" : "them"} are in use`,
      evidence: gone.map(({ cidr, node, inUse }) => `block ${cidr} of ${node ?? "nobody"}: ${inUse} addresses in use`),
      explains: ({ address }) => gone.some(({ cidr }) => isIn(address, cidr)),
    }),
  ];
}

function checkIpip({ cluster, hosts }: Facts): NodeFinding[] {
  const without = hosts.filter(hasNoIpip).map(({ node }) => node);
  const isAcross = (pool: PoolFact, from: string, to: string) => {
    const [one, other] = [nodeNamed(from, cluster), nodeNamed(to, cluster)];
    return from !== to && one !== undefined && other !== undefined && wayBetween(one, other, pool) === "ipip";
  };
  const isUsed = (pool: PoolFact) =>
    without.some((from) => cluster.nodes.some(({ name }) => isAcross(pool, from, name))) &&
    (!pool.isDisabled || cluster.blocks.some(({ cidr }) => isIn(cidr, pool.cidr)));
  return cluster.pools.filter(isUsed).map((pool) =>
    finding({
      code: "POOL_IPIP_NOT_MADE",
      what: `the pool ${pool.name} has the ipipMode ${pool.ipip}, and ${without.join(", ")} ${without.length === 1 ? "has" : "have"} no IPIP device`,
      fix: nodeCatalogue.POOL_IPIP_NOT_MADE.fix.replace("POOL", pool.name),
      explains: ({ fromNode, node }) =>
        (without.includes(fromNode) || without.includes(node)) && isAcross(pool, fromNode, node),
    }),
  );
}

/** Its pods are there, and nobody has a route to them. */
const revived = {
  level: "broken",
  fix: "register the node again: restart its kubelet, then its agent; or stop the machine, and free its addresses: cattail ctl ipam check --show-problem-ips",
} as const;

function checkBlocks({ cluster, hosts }: Facts): NodeFinding[] {
  const { blocks, affinities, nodes, pools } = cluster;
  const known = new Set(nodes.map(({ name }) => name));
  const owned = [...blocks, ...affinities].filter(
    ({ cidr }) => poolOf(cidr, pools) !== undefined || pools.length === 0,
  );
  const lost = new Map<string, Set<string>>();
  for (const { node, cidr } of owned)
    if (node !== undefined && !known.has(node)) lost.set(node, (lost.get(node) ?? new Set()).add(cidr));
  const isRunning = (name: string) => hosts.some(({ node }) => node === name);
  return [...lost].map(([node, cidrs]) =>
    finding({
      code: "BLOCK_WITHOUT_NODE",
      node,
      what: `${[...cidrs].join(", ")} ${cidrs.size === 1 ? "belongs" : "belong"} to ${node}, and there is no such node${isRunning(node) ? ", though its machine runs" : ""}`,
      ...(isRunning(node) ? revived : {}),
      evidence: blocks
        .filter((block) => block.node === node)
        .map(({ cidr, inUse }) => `block ${cidr}: ${inUse} addresses in use`),
      explains: at(node),
    }),
  );
}
