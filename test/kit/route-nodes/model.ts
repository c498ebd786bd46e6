// The routes that a node should have, from all key/values at once and in the plainest words: loops over everything, no index, nothing
// remembered, IPv4 and IPv6 as text and numbers. Written beside the calculation to disagree with it where either is wrong.
type Ways = {
  readonly plain: "us" | "bird" | "others";
  readonly vxlan: boolean | undefined;
  readonly ipip: boolean | undefined;
  readonly ipipBy: "us" | "bird" | "others";
  readonly families: readonly (4 | 6)[];
};

type AnyRecord = { readonly [name: string]: never };

const bits = (address: string): string => {
  if (!address.includes(":"))
    return address
      .split(".")
      .map((byte) => Number(byte).toString(2).padStart(8, "0"))
      .join("");
  const [head = "", tail] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? [] : new Array(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0"))
    .join("");
};

const prefixOf = (cidr: string): string => {
  const [address = "", length = ""] = cidr.split("/");
  return bits(address).slice(0, Number(length));
};

const isInside = (inner: string, outer: string): boolean =>
  inner.includes(":") === outer.includes(":") && prefixOf(inner).startsWith(prefixOf(outer));

const nth = (cidr: string, i: number): string => {
  const [first = ""] = cidr.split("/");
  const isV6 = first.includes(":");
  // Blocks of tests are small and aligned: only the last part counts.
  const cut = isV6 ? first.lastIndexOf(":") : first.lastIndexOf(".");
  const last = first.slice(cut + 1);
  const value = (isV6 ? Number.parseInt(last === "" ? "0" : last, 16) : Number(last)) + i;
  const text = `${first.slice(0, cut + 1)}${isV6 ? value.toString(16) : value}`;
  return isV6 ? text.replace(/^(.*::)0$/, "$1") : text;
};

/** `DESTINATION WORDS`, sorted. What lacks something is left out; `passing` is what only waits for a tunnel address. */
export function modelRoutes(values: ReadonlyMap<string, string>, own: string, ways: Ways): string[] {
  const of = (pattern: RegExp): [string, AnyRecord][] =>
    [...values]
      .filter(([path]) => pattern.test(path))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, value]) => [path, JSON.parse(value)]);
  const nodes = new Map(of(/\/nodes\//).map(([path, node]) => [path.split("/").pop() ?? "", node]));
  const pools: AnyRecord[] = of(/\/pool\//).map(([, pool]) => pool);
  const found = new Map<string, string>();

  const addressOf = (name: string, isV6: boolean): string | undefined => {
    const bgp = (nodes.get(name) as unknown as { spec?: { bgp?: { [key: string]: string } } } | undefined)?.spec?.bgp;
    return bgp?.[isV6 ? "ipv6Address" : "ipv4Address"];
  };
  const tunnelOf = (name: string, isV6: boolean): string | undefined =>
    (nodes.get(name)?.spec as { [key: string]: string } | undefined)?.[
      isV6 ? "ipv6VXLANTunnelAddr" : "ipv4VXLANTunnelAddr"
    ];

  const decide = (destination: string, node: string, isBorrowed: boolean): string | undefined => {
    const isV6 = destination.includes(":");
    const around = pools
      .filter((pool) => isInside(destination, String(pool.cidr)))
      .sort((a, b) => prefixOf(String(b.cidr)).length - prefixOf(String(a.cidr)).length)[0] as
      | { [key: string]: unknown }
      | undefined;
    if (around === undefined) return undefined;
    const uses = around.allowed_uses as string[] | undefined;
    if (uses?.length === 1 && uses[0] === "LoadBalancer") return undefined;
    const isVxlan = around.vxlan_mode !== "";
    const isIpip = !isVxlan && !isV6 && around.ipip_mode !== "";
    if (isVxlan ? ways.vxlan === false : isIpip && ways.ipip === false) return undefined;
    const by = isVxlan ? "us" : isIpip ? ways.ipipBy : ways.plain;
    const isOneAddress = destination.endsWith(isV6 ? "/128" : "/32");
    if (node === own) {
      return isBorrowed || isOneAddress || by !== "us" ? undefined : "blackhole";
    }
    if (by === "bird") {
      return isBorrowed || around.disableBGPExport === true ? undefined : `bgp ${node}`;
    }
    if (by === "others") return undefined;
    const [theirs, ours] = [addressOf(node, isV6), addressOf(own, isV6)];
    if (theirs === undefined || ours === undefined) return undefined;
    const gateway = theirs.split("/")[0] ?? "";
    const bare = destination.split("/")[0];
    const mode = isVxlan ? around.vxlan_mode : around.ipip_mode;
    const isNear = mode === "cross-subnet" && isInside(`${gateway}/${isV6 ? 128 : 32}`, ours);
    if (isOneAddress && bare === gateway) return undefined;
    if ((!isVxlan && !isIpip) || isNear) return `direct ${gateway}`;
    if (isIpip) return `ipip ${gateway}`;
    const [far, near] = [tunnelOf(node, isV6), tunnelOf(own, isV6)];
    if (far === undefined || near === undefined) return "passing";
    return isOneAddress && bare === far ? "vxlan link" : `vxlan ${far}`;
  };

  for (const [, block] of of(/\/block\//)) {
    const { cidr, affinity, allocations, attributes } = block as unknown as {
      cidr: string;
      affinity: string | null;
      allocations: (number | null)[];
      attributes: { secondary: { node: string } }[];
    };
    const isV6 = cidr.includes(":");
    if (!ways.families.includes(isV6 ? 6 : 4)) continue;
    const owner = affinity?.replace("host:", "");
    const put = (destination: string, node: string, isBorrowed: boolean): void => {
      const words = decide(destination, node, isBorrowed);
      if (words === undefined) found.delete(destination);
      else found.set(destination, words);
    };
    for (const [i, at] of allocations.entries()) {
      const node = at === null ? undefined : attributes[at]?.secondary.node;
      if (node !== undefined && node !== owner) put(`${nth(cidr, i)}/${isV6 ? 128 : 32}`, node, true);
    }
    if (owner !== undefined) put(cidr, owner, false);
  }
  const local = of(new RegExp(`^/calico/v1/host/${own}/workload/`)).reverse();
  for (const [, endpoint] of local) {
    const { name, ipv4_nets, ipv6_nets } = endpoint as unknown as {
      name: string;
      ipv4_nets: string[] | null;
      ipv6_nets: string[] | null;
    };
    const nets = [...(ipv4_nets ?? []), ...(ipv6_nets ?? [])];
    for (const net of nets) if (ways.families.includes(net.includes(":") ? 6 : 4)) found.set(net, `dev ${name}`);
  }
  return [...found].map(([destination, words]) => `${destination} ${words}`).sort();
}
