// The pair of interfaces between a pod and its node, made and removed.
//
//        node                                          pod
//   caliX  ee:ee:ee:ee:ee:ee  ◀──────── veth ────────▶  eth0  10.0.0.5/32, fd00::5/128
//   10.0.0.5 dev caliX                                  default via 169.254.1.1 (proxy ARP answers), fe80::ecee:eeff:feee:eeee
//
// Made in an order in which nothing can answer too early: the pair with its MACs, sysctls, up, the pod's routes and addresses, and the
// node's routes last. What is half made when something fails is removed by its host side, which takes the pod's end along.
import { kernelErrno, type Netlink, openNetlink, type Route } from "../../../base/linux/kernel.ts";
import { EndpointError } from "../endpoint-error.ts";
import { networkOf } from "../result.ts";
import type { NetworkEdge, NodeSide, PodLink } from "./pod-link.ts";
import { openPodNamespace } from "./pod-namespace.ts";
import type { LinkRemover } from "./remove-links.ts";
import { has, setNodeSysctls, setPodSysctls, skipLooking } from "./sysctls.ts";

type NodeNamespace = Pick<NetworkEdge, "nodeNamespace">;
type Removing = { readonly remover: LinkRemover };

const hostMac = "ee:ee:ee:ee:ee:ee";
const gateway4 = "169.254.1.1";
/** The link-local address that follows from the node's MAC. */
const gateway6 = "fe80::ecee:eeff:feee:eeee";
/** The kernel's limit, without the byte that ends a name. */
const longestName = 15;
const pauseMs = 50;
const linkLocalTries = 10;
/** Where `accept_dad` of all interfaces is set in the pod's namespace, the kernel looks for up to two seconds. */
const usableTries = 60;

/** Returns the MAC of the pod's end. */
export async function plugLink(link: PodLink, edge: NetworkEdge): Promise<string> {
  using namespace = openPodNamespace(link.netns);
  await using node = openNetlink({ namespace: edge.nodeNamespace });
  await using pod = openNetlink({ namespace: link.netns });
  await deleteIfThere(node, link.hostSide);
  await makePair(node, { link, namespaceFd: namespace.fd }, edge);
  if (has(link, 6)) skipLooking(link);
  setNodeSysctls(link, edge);
  setPodSysctls(link);
  await node.change({ do: "edit", link: { link: link.hostSide, up: true, alias: link.holder } });
  await pod.change({ do: "edit", link: { link: link.ifname, up: true } });
  const inside = await mustFind(pod, link.ifname);
  await addPodRoutes(pod, link, inside.index);
  for (const { address } of link.addresses) {
    await pod.change({ do: "create", address: { index: inside.index, address: networkOf(address) } });
  }
  const outside = await mustFind(node, link.hostSide);
  if (has(link, 6)) await waitForVersion6({ node, outside: outside.index, pod, inside: inside.index }, edge);
  for (const { address } of link.addresses) await addNodeRoute(node, { link, index: outside.index, address });
  return inside.mac ?? "";
}

async function makePair(
  node: Netlink,
  { link, namespaceFd }: { link: PodLink; namespaceFd: number },
  { warn }: NetworkEdge,
): Promise<void> {
  const mtu = link.mtu === 0 ? {} : { mtu: link.mtu };
  const outside = { name: link.hostSide, mac: hostMac, ...mtu };
  const inside = { name: link.ifname, namespaceFd, ...(link.mac === undefined ? {} : { mac: link.mac }), ...mtu };
  if (link.kind === "netkit") {
    try {
      return await node.change({ do: "create", link: { kind: "netkit", ...outside, peer: inside } });
    } catch (error) {
      if (kernelErrno(error) !== "EOPNOTSUPP") throw error;
      warn("netkit is not supported by this kernel: the pod gets a veth pair");
    }
  }
  const { queues } = link;
  try {
    await node.change({ do: "create", link: { kind: "veth", ...outside, queues, peer: { ...inside, queues } } });
  } catch (error) {
    throw inKernelsWords(error, link);
  }
}

/** As the original: what the kernel said. What it may mean stands beside it. */
function inKernelsWords(error: unknown, { ifname, mtu, netns, queues }: PodLink): unknown {
  const wish = `the pair was to have an MTU of ${mtu} and ${queues} queues`;
  switch (kernelErrno(error)) {
    case "EEXIST":
      return new EndpointError("file exists", { next: `${netns} has an interface ${ifname} already`, cause: error });
    case "EINVAL":
      return new EndpointError("invalid argument", { next: wish, cause: error });
    case "ERANGE":
      return new EndpointError("numerical result out of range", { next: wish, cause: error });
    default:
      return error;
  }
}

/** A namespace or an interface that is gone is as good as unplugged. Whether there was one. */
export async function unplugInPod(netns: string, ifname: string): Promise<boolean> {
  let pod: Netlink;
  try {
    pod = openNetlink({ namespace: netns });
  } catch {
    return false;
  }
  await using inside = pod;
  return await deleteIfThere(inside, ifname);
}

export async function isPlugged(netns: string, ifname: string): Promise<boolean> {
  openPodNamespace(netns)[Symbol.dispose]();
  await using pod = openNetlink({ namespace: netns });
  return (await pod.link(ifname)) !== undefined;
}

/** By its index: one that was made under its name meanwhile is another. */
export async function unplugOnNode(
  { hostSide, holder, orNobodys }: NodeSide,
  { nodeNamespace, remover }: NodeNamespace & Removing,
): Promise<boolean> {
  await using node = openNetlink({ namespace: nodeNamespace });
  if (hostSide.length > longestName) return false; // no interface can be called so
  const found = await node.link(hostSide);
  const { alias = "" } = found ?? {};
  const isHis = alias === holder || (alias === "" && orNobodys);
  return found !== undefined && isHis && (await remover.remove(found.index, nodeNamespace));
}

export async function collectOnNode(
  prefix: string,
  isGone: (holder: string) => boolean,
  { nodeNamespace, remover }: NodeNamespace & Removing,
): Promise<string[]> {
  await using node = openNetlink({ namespace: nodeNamespace });
  const gone = (await node.links()).flatMap(({ name, index, alias = "" }) =>
    name.startsWith(prefix) && alias !== "" && isGone(alias) ? [{ index, alias }] : [],
  );
  await Promise.all(gone.map(({ index }) => remover.remove(index, nodeNamespace)));
  return gone.map(({ alias }) => alias);
}

/** By the way that a packet takes; only where that is another one the whole table is looked at. */
export async function lostOf(
  { hostSide, holder, addresses }: Pick<PodLink, "hostSide" | "holder" | "addresses">,
  { nodeNamespace }: NodeNamespace = {},
): Promise<string[]> {
  await using node = openNetlink({ namespace: nodeNamespace });
  const outside = await node.link(hostSide);
  if (outside === undefined) return [`the node has no interface ${hostSide}`];
  if (outside.alias !== holder) return [`${hostSide} of the node belongs to ${outside.alias ?? "nobody"}`];
  if (!outside.isUp) return [`${hostSide} of the node is down`];
  const lost: string[] = [];
  for (const { address } of addresses) {
    if (await isRouted(node, { index: outside.index, address })) continue;
    lost.push(`the node has no route to ${address} by ${hostSide}`);
  }
  return lost;
}

async function isRouted(node: Netlink, { index, address }: { index: number; address: string }): Promise<boolean> {
  try {
    if ((await node.routeTo(address)).index === index) return true;
  } catch (error) {
    if (kernelErrno(error) === undefined) throw error;
  }
  const destination = networkOf(address);
  return (await node.routes({ table: 254 })).some((each) => each.destination === destination && each.index === index);
}

/** What is missing of it, as sentences. */
export async function missingOf(
  link: Pick<PodLink, "hostSide" | "netns" | "ifname" | "addresses">,
  { nodeNamespace }: NodeNamespace = {},
): Promise<string[]> {
  openPodNamespace(link.netns)[Symbol.dispose]();
  await using node = openNetlink({ namespace: nodeNamespace });
  await using pod = openNetlink({ namespace: link.netns });
  const [outside, inside] = [await node.link(link.hostSide), await pod.link(link.ifname)];
  const missing: string[] = [];
  if (outside === undefined) missing.push(`the node has no interface ${link.hostSide}`);
  else if (!outside.isUp) missing.push(`${link.hostSide} of the node is down`);
  if (inside === undefined) missing.push(`the pod has no interface ${link.ifname}`);
  else if (!inside.isUp) missing.push(`${link.ifname} of the pod is down`);
  if (outside === undefined || inside === undefined) return missing;
  const held = new Set(
    (await pod.addresses()).filter(({ index }) => index === inside.index).map((each) => each.address),
  );
  const routed = new Set(
    (await node.routes({ table: 254 })).filter(({ index }) => index === outside.index).map((each) => each.destination),
  );
  for (const { address } of link.addresses) {
    if (!held.has(networkOf(address))) missing.push(`${link.ifname} of the pod does not have ${networkOf(address)}`);
    if (!routed.has(networkOf(address))) missing.push(`the node has no route to ${address} by ${link.hostSide}`);
  }
  return missing;
}

async function deleteIfThere(netlink: Netlink, name: string): Promise<boolean> {
  const found = await netlink.link(name);
  return found !== undefined && (await deleteLink(netlink, found.index));
}

async function deleteLink(netlink: Netlink, index: number): Promise<boolean> {
  try {
    await netlink.change({ do: "delete", link: index });
    return true;
  } catch (error) {
    if (kernelErrno(error) === "ENODEV") return false; // gone with its other end meanwhile
    throw error;
  }
}

async function mustFind(
  netlink: Netlink,
  name: string,
): Promise<{ readonly index: number; readonly mac: string | undefined }> {
  const found = await netlink.link(name);
  if (found !== undefined) return found;
  throw new EndpointError(`interface ${name} disappeared while it was set up`, {
    next: "another program removes interfaces: find it with ip monitor link",
  });
}

async function addPodRoutes(pod: Netlink, link: PodLink, index: number): Promise<void> {
  const add = (route: { destination: string; gateway?: string; scope?: "link" }) =>
    pod.change({ do: "create", route: { ...route, index, protocol: "boot" } });
  if (has(link, 4)) {
    await add({ destination: `${gateway4}/32`, scope: "link" });
    for (const destination of destinations(link, "0.0.0.0/0")) await add({ destination, gateway: gateway4 });
  }
  if (has(link, 6)) for (const destination of destinations(link, "::/0")) await add({ destination, gateway: gateway6 });
}

function destinations({ podRoutes }: PodLink, everything: string): readonly string[] {
  if (podRoutes === undefined) return [everything];
  return podRoutes.filter((each) => each.includes(":") === everything.includes(":"));
}

type Ends = { readonly node: Netlink; readonly outside: number; readonly pod: Netlink; readonly inside: number };

/** For what the kernel does by the way: the node's own address, and that the pod's addresses may be used. A program of the pod could not bind to them. */
async function waitForVersion6({ node, outside, pod, inside }: Ends, edge: NetworkEdge): Promise<void> {
  const hasLinkLocal = async () =>
    (await node.addresses()).some((each) => each.index === outside && each.address === `${gateway6}/64`);
  if (!(await isSoon(hasLinkLocal, linkLocalTries, edge))) {
    const limitMs = linkLocalTries * pauseMs;
    edge.warn(`the node's end did not get ${gateway6} within ${limitMs} ms: IPv6 may not work yet`);
  }
  const isUsable = async () =>
    !(await pod.addresses()).some(({ index, flags }) => index === inside && flags.includes("tentative"));
  if (!(await isSoon(isUsable, usableTries, edge)))
    edge.warn(`the kernel still looks for others who have the pod's IPv6 addresses, after ${usableTries * pauseMs} ms`);
}

async function isSoon(ask: () => Promise<boolean>, tries: number, { clock }: NetworkEdge): Promise<boolean> {
  for (let attempt = 0; attempt < tries; attempt++) {
    if (await ask()) return true;
    await clock.sleep(pauseMs);
  }
  return false;
}

async function addNodeRoute(
  node: Netlink,
  { link, index, address }: { link: PodLink; index: number; address: string },
): Promise<void> {
  const destination = networkOf(address);
  try {
    await node.change({ do: "create", route: { destination, index, protocol: "boot" } });
  } catch (error) {
    if (kernelErrno(error) !== "EEXIST") throw error;
    const there = (await node.routes({ table: 254 })).filter((route) => route.destination === destination);
    if (there.some((route) => route.index === index)) return;
    throw await taken(node, { link, index, there });
  }
}

/** With the words of the original, which people search for. */
async function taken(
  node: Netlink,
  { link: { hostSide }, index, there }: { link: PodLink; index: number; there: readonly Route[] },
): Promise<EndpointError> {
  const [other] = there;
  const ours = `route (Ifindex: ${index}, Dst: ${other?.destination}, Scope: link)`;
  const name = other?.index === undefined ? undefined : (await node.link(other.index))?.name;
  const scope = other?.scope === "global" ? "universe" : other?.scope;
  const theirs = `route (Ifindex: ${other?.index ?? 0}, Dst: ${other?.destination}, Scope: ${scope}, Iface: ${name ?? "unknown"})`;
  return new EndpointError(
    `error adding host side routes for interface: ${hostSide}, error: ${ours} already exists for an interface other than '${hostSide}': ${theirs}`,
  );
}
