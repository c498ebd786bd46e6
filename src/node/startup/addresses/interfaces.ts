// The host's interfaces as detection sees them: in the kernel's order turned round, so that the one that was made last comes first, each with its addresses
// in the kernel's order, whether it is up or not.
import { compileGoRegexp, type Family } from "../../../base/lib/index.ts";
import { openNetlink } from "../../../base/linux/kernel.ts";

export type HostInterface = {
  readonly index: number;
  readonly name: string;
  readonly addresses: readonly HostAddress[];
};

/** With the length of its network: `10.0.0.1/24`. */
export type HostAddress = { readonly family: Family; readonly cidr: string };

export async function readInterfaces(options: { readonly namespace?: string } = {}): Promise<readonly HostInterface[]> {
  await using netlink = openNetlink(options);
  const [links, addresses] = [await netlink.links(), await netlink.addresses()];
  const byIndex = Map.groupBy(addresses, ({ index }) => index);
  return (
    links
      .map(({ index, name }) => ({
        index,
        name,
        addresses: (byIndex.get(index) ?? []).map(({ address, peer, family }) => {
          const number = family === "inet6" ? (6 as const) : (4 as const);
          // The length that stands beside an address with a peer is the peer's: the node's own network is that address alone.
          const [own = ""] = address.split("/");
          return { family: number, cidr: peer === undefined ? address : `${own}/${number === 4 ? 32 : 128}` };
        }),
      }))
      // Not by index: older kernels list those above 255 in an order of their own, and a node that changes from the original to us keeps its address.
      .reverse()
  );
}

/** Interfaces that other software makes: never the node's own way out. */
export const internalInterfaces: readonly string[] = [
  "^docker.*",
  "^cbr.*",
  "^dummy.*",
  "^podman.*",
  "^virbr.*",
  "^lxcbr.*",
  "^veth.*",
  "^lo",
  "^br-.*",
  "^cali.*",
  "^tunl.*",
  "^flannel.*",
  "^kube-ipvs.*",
  "^cni.*",
  "^vxlan\\.calico.*",
  "^vxlan-v6\\.calico.*",
  "^wireguard\\.cali.*",
  "^wg-v6\\.cali.*",
  "^nodelocaldns.*",
];

export type NameFilter = { readonly include?: readonly string[]; readonly exclude?: readonly string[] };

/** Expressions are not anchored, and one that matches is enough. Throws SyntaxError for one that is none. */
export function named(interfaces: readonly HostInterface[], filter: NameFilter): readonly HostInterface[] {
  const include = anyOf(filter.include);
  const exclude = anyOf(filter.exclude);
  return interfaces.filter(({ name }) => include?.test(name) !== false && exclude?.test(name) !== true);
}

function anyOf(expressions: readonly string[] = []): RegExp | undefined {
  return expressions.length === 0 ? undefined : compileGoRegexp(`(${expressions.join(")|(")})`);
}

/** The node's interfaces as they are written on the Node: by name, of these families, without those of other software. */
export function interfacesForNode(
  interfaces: readonly HostInterface[],
  families: readonly Family[],
): readonly { name: string; addresses?: string[] }[] {
  if (families.length === 0) return [];
  return named(interfaces, { exclude: internalInterfaces })
    .map(({ name, addresses }) => {
      const texts = addresses
        .filter(({ family }) => families.includes(family))
        .map(({ cidr }) => cidr.split("/")[0] ?? "");
      return texts.length === 0 ? { name } : { name, addresses: texts };
    })
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}
