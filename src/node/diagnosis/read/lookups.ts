// What the kernel of this host does with packets to nodes, blocks and pods: its own answer, and not what a table seems to say.
import { messageOf } from "../../../base/lib/index.ts";
import { kernelErrno, type Netlink } from "../../../base/linux/kernel.ts";
import { destinations } from "../checks/routes.ts";
import type { LookupFact } from "../facts.ts";
import { clusterOf, familiesOf, type WholeCluster } from "../families.ts";
import { bare } from "../networks.ts";

const mostLookups = 2_000;
const mostNodes = 500;

type Asked = {
  readonly node: string;
  readonly cluster: WholeCluster;
  readonly nameOfLink: ReadonlyMap<number, string>;
  readonly asked: readonly string[];
};

export async function readLookups(
  netlink: Netlink,
  { node, cluster, nameOfLink, asked }: Asked,
): Promise<LookupFact[]> {
  const own = cluster.pods.filter((pod) => pod.node === node).flatMap(({ addresses }) => Object.values(addresses));
  const away = familiesOf(cluster).flatMap((family) => destinations(node, clusterOf(cluster, family)));
  const first = cluster.pods
    .filter(({ namespace, name }) => asked.includes(`${namespace}/${name}`))
    .flatMap(({ addresses }) => Object.values(addresses));
  const nodes = cluster.nodes
    .filter(({ name }) => name !== node)
    .flatMap(({ addresses }) => Object.values(addresses).map(bare));
  const wanted = [...new Set([...first, ...nodes.slice(0, mostNodes), ...away.map(({ address }) => address), ...own])];
  const lookups: LookupFact[] = [];
  for (const to of wanted.slice(0, mostLookups)) lookups.push(await lookUp(netlink, to, nameOfLink));
  return lookups;
}

/** Of this host's own packets, or of one that arrives. */
export async function lookUp(
  netlink: Netlink,
  to: string,
  nameOfLink: ReadonlyMap<number, string>,
  arriving?: { readonly from: string; readonly index: number },
): Promise<LookupFact> {
  try {
    const { type, hops, ...only } = await netlink.routeTo(to, arriving);
    const ways = (hops ?? [only]).map(({ gateway, index }) => ({
      ...(gateway === undefined ? {} : { gateway }),
      ...(index === undefined ? {} : { link: nameOfLink.get(index) ?? String(index) }),
    }));
    return { to, type: String(type), ...ways[0], ...(ways.length < 2 ? {} : { ways }) };
  } catch (error) {
    return { to, refused: kernelErrno(error) ?? messageOf(error) };
  }
}
