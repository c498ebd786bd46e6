// What CalicoNodeStatus objects say of nodes: sessions and routes as the agents of Calico, too, write them where such an object asks for it. Read from
// the node-status data set, so this server needs no right that it does not have.
import { isRecord, parseJson, rangeText } from "../../../base/lib/index.ts";
import { blockOfPath, readBlock } from "../../../calico/routing/index.ts";
import type { BgpDaemonView, RouteRowView } from "../contract.ts";
import type { FelixKeys, KeyValue } from "../endpoint-policies.ts";

export type NodeStatus = {
  readonly atMs: number | null;
  readonly daemons: readonly BgpDaemonView[];
  /** By destination, with their gateways: what the kernel was given. Null: nobody asked for routes. */
  readonly routes: ReadonlyMap<string, string> | null;
};

/** By node; of several objects for one node the last written one counts. */
export function nodeStatuses(values: Iterable<KeyValue>): Map<string, NodeStatus> {
  const found = new Map<string, NodeStatus>();
  for (const { value } of values) {
    const object = record(value);
    const spec = isRecord(object?.spec) ? object.spec : {};
    const status = isRecord(object?.status) ? object.status : {};
    if (typeof spec.node !== "string" || typeof status.lastUpdated !== "string") continue;
    const atMs = Date.parse(status.lastUpdated);
    const classes = Array.isArray(spec.classes) ? spec.classes : [];
    const before = found.get(spec.node)?.atMs ?? Number.NEGATIVE_INFINITY;
    if (Number.isNaN(atMs) || atMs < before) continue;
    found.set(spec.node, {
      atMs,
      daemons: daemonsOf(status),
      routes: classes.includes("Routes") ? routesOf(status.routes) : null,
    });
  }
  return found;
}

/** The blocks of other nodes against what BIRD of this one has given to the kernel. */
export function routeRows(node: string, routes: ReadonlyMap<string, string>, cluster: Cluster): RouteRowView[] {
  return cluster.blocks
    .filter((block) => block.node !== node)
    .map(({ cidr, node: owner }) => {
      const address = cluster.addressOf(owner);
      const gateway = routes.get(cidr);
      const state = gateway === undefined ? "missing" : gateway === address ? "right" : "other";
      return {
        destination: cidr,
        node: owner,
        expected: address === undefined ? "by BGP" : `via ${address}, by BGP`,
        actual: gateway === undefined ? "none" : `via ${gateway}`,
        state,
        why: state === "missing" ? "BIRD has no route to it" : "",
      };
    });
}

export type Cluster = {
  readonly blocks: readonly { readonly cidr: string; readonly node: string }[];
  addressOf(node: string): string | undefined;
};

export function blocksOf(keys: FelixKeys): Cluster["blocks"] {
  return [...keys.withPrefix("/calico/ipam/v2/assignment/")].flatMap(({ path, value }) => {
    const block = blockOfPath(path) === undefined ? undefined : readBlock(record(value));
    return block?.owner === undefined ? [] : [{ cidr: rangeText(block.range), node: block.owner }];
  });
}

function daemonsOf({ agent, bgp }: { readonly [name: string]: unknown }): BgpDaemonView[] {
  return ([4, 6] as const).flatMap((family) => {
    const daemon = isRecord(agent) && isRecord(agent[`birdV${family}`]) ? agent[`birdV${family}`] : {};
    const { state, version, routerID, lastBootTime, lastReconfigurationTime } = record(daemon) ?? {};
    const peers = isRecord(bgp) ? bgp[`peersV${family}`] : undefined;
    const sessions = (Array.isArray(peers) ? peers : []).filter(isRecord).map((peer) => ({
      address: text(peer.peerIP),
      kind: text(peer.type),
      state: text(peer.state),
      since: text(peer.since),
    }));
    if (sessions.length === 0 && (family === 6 || text(state) === "")) return [];
    return [
      {
        family,
        silent: text(state) === "NotReady" ? "it does not answer" : "",
        version: text(version),
        routerId: text(routerID),
        bootTime: text(lastBootTime),
        reconfiguredTime: text(lastReconfigurationTime),
        sessions,
      },
    ];
  });
}

function routesOf(routes: unknown): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of ["routesV4", "routesV6"]) {
    const list = isRecord(routes) ? routes[name] : undefined;
    for (const route of Array.isArray(list) ? list : []) {
      if (isRecord(route) && route.type === "FIB") found.set(text(route.destination), text(route.gateway));
    }
  }
  return found;
}

function record(value: unknown): { readonly [name: string]: unknown } | undefined {
  if (isRecord(value)) return value;
  try {
    const parsed = typeof value === "string" ? parseJson(value) : undefined;
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined; // its key's page shows it as it is
  }
}

const text = (value: unknown) => (typeof value === "string" ? value : "");
