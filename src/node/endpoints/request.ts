// What is asked of this room, and what it needs of the world to do it. The plugin's program makes both for one call; an agent that stays keeps
// the edge, with its open connections, and makes a request for each call.
//
//   plugIn(request, edge)  ─▶ IPAM ─▶ interface ─▶ endpoint ─▶ what the runtime is told       whatever fails: undone from there back
//   unplug(request, edge)  ─▶ endpoint ─▶ interface ─▶ IPAM                                   may be repeated, and come when nothing is left
//   check(request, edge)   ─▶ throws what is missing
import type { JsonRecord } from "../../base/lib/index.ts";
import type { Datastore } from "../../calico/datastore/index.ts";
import type { Resources } from "../../calico/resources/index.ts";
import type { PodName } from "./network/names.ts";
import type { NetworkEdge, PodLink } from "./network/pod-network.ts";
import type { Assigned } from "./result.ts";
import type { EndpointSettings } from "./settings.ts";

export type EndpointRequest = {
  readonly containerId: string;
  /** The path of the pod's namespace; empty where the runtime does not know it any more. */
  readonly netns: string;
  readonly ifname: string;
  readonly pod: PodName;
  readonly node: string;
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
  unplugOnNode(hostSide: string, edge: NetworkEdge): Promise<boolean>;
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
  readonly ipam: IpamCalls;
  readonly network: PodNetwork;
};
