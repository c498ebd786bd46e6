// The probes of a host: other nodes, small and large; pods here and there; whether packets for pods elsewhere arrive at their node.
import { createConnection } from "node:net";
import { type Pinged, ping } from "../../../base/linux/kernel.ts";
import type { BirdFacts, ClusterFacts, PodFact, Probe } from "../facts.ts";
import { familyOf } from "../families.ts";
import { bare } from "../networks.ts";

export type ProbeOptions = {
  readonly node: string;
  readonly cluster: ClusterFacts;
  /** Of the interface that has the node's address; undefined: nothing large is sent. */
  readonly mtu: number | undefined;
  readonly bird: BirdFacts | undefined;
  /** Paths of the namespaces of pods of this host, by address. */
  readonly namespaces: ReadonlyMap<string, string>;
  /** Pods (NAMESPACE/NAME) or addresses that are never left out. */
  readonly asked: readonly string[];
};

const mostNodes = 50;
const mostPodsOfANode = 3;
const mostPods = 60;
const headers = { 4: 28, 6: 48 } as const; // of the family and its ICMP
const bgpPort = 179;
const ask = { count: 3, intervalMs: 100, timeoutMs: 900 } as const;

export async function probe(options: ProbeOptions): Promise<Probe[]> {
  const { node, cluster, asked } = options;
  const others = cluster.nodes
    .filter(({ name, address }) => name !== node && address !== undefined)
    .slice(0, mostNodes);
  const pods = chosenPods(cluster.pods, asked);
  const own = { from: node, fromNode: node } as const;
  const toNodes = others.flatMap(({ name, address = "" }) => {
    const to = { ...own, to: name, node: name, address: bare(address) };
    // Never at a session that stands: its peer would take the knock for a new one.
    const isDown = options.bird?.sessions.some(
      ({ address: peer, state }) => peer === to.address && state !== "Established",
    );
    const { mtu } = options;
    return [
      () => pinged({ ...to, kind: "node" }),
      ...(mtu === undefined ? [] : [() => large({ ...to, kind: "large" }, mtu)]),
      ...(isDown === true ? [() => knock({ ...to, kind: "bgp" })] : []),
    ];
  });
  const toPods = pods.flatMap((pod) => {
    const to = { ...own, to: nameOf(pod), node: pod.node, address: pod.address };
    const isElsewhere = pod.node !== node && cluster.nodes.some(({ name }) => name === pod.node);
    return [() => pinged({ ...to, kind: "pod" }), ...(isElsewhere ? [() => arrives({ ...to, kind: "arrival" })] : [])];
  });
  const between = pods
    .filter((pod) => pod.node === node && options.namespaces.has(pod.address))
    .flatMap((from) =>
      pods
        .filter((to) => to !== from)
        .map((to) => () => {
          const ends = { from: nameOf(from), fromNode: node, to: nameOf(to), node: to.node, address: to.address };
          return pinged({ ...ends, kind: "pod to pod" }, options.namespaces.get(from.address));
        }),
    );
  return await Promise.all([...toNodes, ...toPods, ...between].map(twice));
}

/** Nothing is blamed for what was lost once: a machine that is busy answers late. */
async function twice(ask: () => Promise<Probe>): Promise<Probe> {
  const first = await ask();
  return first.ok ? first : await ask();
}

type PodWithAddress = PodFact & { readonly address: string };

function chosenPods(pods: readonly PodFact[], asked: readonly string[]): PodWithAddress[] {
  const withAddress = pods.flatMap((pod) => (pod.address === undefined ? [] : [{ ...pod, address: pod.address }]));
  const running = withAddress.filter(({ phase }) => phase === "Running");
  const isAsked = (pod: PodWithAddress) => asked.includes(nameOf(pod)) || asked.includes(pod.address);
  const some = [...Map.groupBy(running, ({ node }) => node).values()].flatMap((group) =>
    group.slice(0, mostPodsOfANode),
  );
  return [...new Set([...running.filter(isAsked), ...some.slice(0, mostPods)])];
}

export function nameOf({ namespace, name }: PodFact): string {
  return `${namespace}/${name}`;
}

type Asked = Omit<Probe, "ok">;

export async function pinged(asked: Asked, namespace?: string): Promise<Probe> {
  const heard = await ping(asked.address, { ...ask, namespace });
  return { ...asked, ok: heard.received > 0, ...(heard.received > 0 ? {} : { says: words(heard) }) };
}

function words({ refusals }: Pinged): string {
  const [first] = refusals;
  if (first === undefined) return "no answer";
  if (first.is === "not sent") return `not sent (${first.errno})`;
  return first.is === "unreachable" ? `${first.what} unreachable` : first.is;
}

/** The first to pass it on says that its time is over: its node, where the route is right. */
export async function arrives(asked: Asked): Promise<Probe> {
  const { received, refusals } = await ping(asked.address, { ...ask, hops: 1 });
  return { ...asked, ok: received > 0 || refusals.some(({ is }) => is === "time exceeded") };
}

export async function large(asked: Asked, mtu: number): Promise<Probe> {
  const length = headers[familyOf(asked.address) ?? 4];
  const passes = async (bytes: number): Promise<boolean> => {
    const options = { ...ask, payloadBytes: bytes - length, dontFragment: true };
    return (await ping(asked.address, options)).received > 0;
  };
  if (await passes(mtu)) return { ...asked, ok: true, tried: mtu };
  const largest = await largestThatPasses(mtu, passes);
  return { ...asked, ok: false, tried: mtu, ...(largest === undefined ? {} : { largest }) };
}

/** What tunnels and rings of switches leave of 1,500 bytes; then the gap between the two next to each other, in a few steps of many at a time. */
const usualSizes = [576, 1280, 1400, 1450, 1492];
const atATime = 8;

export async function largestThatPasses(
  tooLarge: number,
  passes: (bytes: number) => Promise<boolean>,
): Promise<number | undefined> {
  let [good, bad] = [0, tooLarge];
  let sizes = [...usualSizes, tooLarge - 50].filter((bytes) => bytes > 0 && bytes < tooLarge);
  while (sizes.length > 0) {
    const results = await Promise.all([...new Set(sizes)].map(async (bytes) => ({ bytes, ok: await passes(bytes) })));
    good = Math.max(good, ...results.flatMap(({ bytes, ok }) => (ok ? [bytes] : [])));
    bad = Math.min(bad, ...results.flatMap(({ bytes, ok }) => (ok || bytes < good ? [] : [bytes])));
    if (good === 0) return undefined; // none of the usual ones: another cause
    const step = Math.max(1, (bad - good) / (atATime + 1));
    sizes = Array.from({ length: atATime }, (_, i) => Math.round(good + step * (i + 1))).filter((size) => size < bad);
  }
  return good;
}

const knockMs = 1_500;

function knock(asked: Asked): Promise<Probe> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: asked.address, port: bgpPort });
    const end = (ok: boolean, says?: string) => {
      socket.destroy();
      resolve({ ...asked, ok, ...(says === undefined ? {} : { says }) });
    };
    socket.setTimeout(knockMs, () => end(false, `no answer within ${knockMs} ms`));
    socket.once("connect", () => end(true));
    socket.once("error", (error: NodeJS.ErrnoException) => end(false, error.code ?? error.message));
  });
}
