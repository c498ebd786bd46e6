// What the datastore alone says: whether it is ready, nodes and their addresses, pools, blocks.
import { nodeCatalogue } from "../catalogue.ts";
import type { ClusterFacts, Facts, PoolFact, Probe, Unreadable } from "../facts.ts";
import { at, finding, type NodeFinding } from "../finding.ts";
import { bare, duplicates, isIn, isSameSubnet, overlap, poolOf } from "../networks.ts";

export function checkCluster(facts: Facts): NodeFinding[] {
  const { cluster } = facts;
  return [
    ...checkReading(cluster),
    ...checkAddresses(cluster),
    ...checkSubnets(facts),
    ...checkPools(cluster),
    ...checkBlocks(cluster),
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

function checkAddresses(cluster: ClusterFacts): NodeFinding[] {
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
    return [finding({ code: "NODE_ADDRESS_OTHER", node: name, what })];
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

function checkPools(cluster: ClusterFacts): NodeFinding[] {
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
  const none =
    pools.length > 0 && pools.every(({ isDisabled }) => isDisabled)
      ? [finding({ code: "POOL_NONE_ENABLED", what: `all ${pools.length} IPv${cluster.family} pools are disabled` })]
      : [];
  return [...asked, ...none, ...pools.flatMap((pool) => overlapsOf(pool, nodes, serviceRanges))];
}

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
    ...services.map((range) => `services: ${range}`),
  ];
  const what = `the pool ${name} (${cidr}) overlaps ${inside.length > 0 ? "the addresses of nodes" : "the range of services"}`;
  return [finding({ code: "POOL_OVERLAP", what, evidence })];
}

function checkBlocks({ blocks, affinities, nodes, pools }: ClusterFacts): NodeFinding[] {
  const known = new Set(nodes.map(({ name }) => name));
  const owned = [...blocks, ...affinities].filter(
    ({ cidr }) => poolOf(cidr, pools) !== undefined || pools.length === 0,
  );
  const lost = new Map<string, Set<string>>();
  for (const { node, cidr } of owned)
    if (node !== undefined && !known.has(node)) lost.set(node, (lost.get(node) ?? new Set()).add(cidr));
  return [...lost].map(([node, cidrs]) =>
    finding({
      code: "BLOCK_WITHOUT_NODE",
      node,
      what: `${[...cidrs].join(", ")} ${cidrs.size === 1 ? "belongs" : "belong"} to ${node}, and there is no such node`,
      evidence: blocks
        .filter((block) => block.node === node)
        .map(({ cidr, inUse }) => `block ${cidr}: ${inUse} addresses in use`),
      explains: at(node),
    }),
  );
}
