// What is asked of this room, and what it needs of the world to do it. The plugin's program makes both for one call; an agent that stays keeps
// the edge, with its open connections, and makes a request for each call.
//
//   plugIn(request, edge)  ─▶ IPAM ─▶ interface ─▶ endpoint ─▶ what the runtime is told       whatever fails: undone from there back
//   unplug(request, edge)  ─▶ endpoint ─▶ interface ─▶ IPAM                                   may be repeated, and come when nothing is left
//   check(request, edge)   ─▶ throws what is missing
import type { JsonRecord } from "../../base/lib/index.ts";
import type { Datastore } from "../../calico/datastore/index.ts";
import type { Resources } from "../../calico/resources/index.ts";
import type { EndpointSettings } from "./asked/settings.ts";
import type { PodName } from "./network/names.ts";
import type { NetworkEdge, NodeSide, PodLink } from "./network/pod-link.ts";
import type { Assigned } from "./result.ts";

export type EndpointRequest = {
  readonly containerId: string;
  /** The path of the pod's namespace; empty where the runtime does not know it any more. */
  readonly netns: string;
  readonly ifname: string;
  readonly pod: PodName;
  /** Of the pod, where the runtime says it. */
  readonly uid: string | undefined;
  readonly node: string;
  /** What names of the node's ends begin with. */
  readonly prefix: string;
  readonly hostSide: string;
  /** With what the node's file says. */
  readonly mtu: number;
  readonly settings: EndpointSettings;
  /** As it came, for IPAM. */
  readonly configuration: JsonRecord;
};

/** The IPAM plugin that the configuration names, called for this container. */
export type IpamCalls = {
  add(configuration: JsonRecord, address?: string): Promise<Assigned>;
  check(configuration: JsonRecord): Promise<void>;
  del(configuration: JsonRecord): Promise<void>;
  /** Whoever holds them. */
  release(addresses: readonly string[]): Promise<void>;
};

export type PodNetwork = {
  plug(link: PodLink, edge: NetworkEdge): Promise<string>;
  unplugInPod(netns: string, ifname: string): Promise<boolean>;
  /** Whether the pod's namespace has an interface of that name. */
  isPlugged(netns: string, ifname: string): Promise<boolean>;
  /** Only an interface of this holder, and, if so asked, one that names none. */
  unplugOnNode(side: NodeSide, edge: NetworkEdge): Promise<boolean>;
  /** Removes interfaces whose names begin so, and whose holders are gone; returns whose they were. */
  collect(prefix: string, isGone: (holder: string) => boolean, edge: NetworkEdge): Promise<readonly string[]>;
  /** What is lost of it since it was made, as sentences. Cheap, and on the node's side alone. */
  lost(link: Pick<PodLink, "hostSide" | "holder" | "addresses">, edge: NetworkEdge): Promise<readonly string[]>;
  missing(
    link: Pick<PodLink, "hostSide" | "netns" | "ifname" | "addresses">,
    edge: NetworkEdge,
  ): Promise<readonly string[]>;
};

export type EndpointEdge = NetworkEdge & {
  readonly datastore: Datastore;
  readonly resources: Resources;
  /** Where pods, namespaces and nodes are read: the same datastore, or a cluster beside etcd. */
  readonly cluster: () => Promise<Datastore>;
  /** Throws EndpointError where nothing may be done now. */
  readonly mustBeReady: () => Promise<void>;
  readonly ipam: IpamCalls;
  readonly network: PodNetwork;
  /** Aborted when nobody waits for the answer any more. An ADD then goes no further, and is undone; a DEL goes on to its end. */
  readonly signal?: AbortSignal | undefined;
};

/** Who an interface is for, as the node's end says in its alias: the name under which the container also holds its addresses. */
export function holderOf({ settings, containerId }: Pick<EndpointRequest, "settings" | "containerId">): string {
  return `${settings.network}.${containerId}`;
}
