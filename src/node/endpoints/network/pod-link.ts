// What a pod's interface is to be, and what making and removing it needs of the world.
import type { Clock } from "../../../base/lib/index.ts";

export type PodLink = {
  /** Whose it is, written on the node's end. */
  readonly holder: string;
  readonly hostSide: string;
  /** The path of the pod's namespace. */
  readonly netns: string;
  readonly ifname: string;
  /** 0: the kernel's own. */
  readonly mtu: number;
  readonly queues: number;
  /** Of the pair; a kernel that does not know netkit makes a veth. */
  readonly kind: "veth" | "netkit";
  /** Undefined: the kernel's choice. */
  readonly mac: string | undefined;
  readonly addresses: readonly { readonly family: 4 | 6; readonly address: string }[];
  /** What the pod reaches through it; undefined: everything. */
  readonly podRoutes: readonly string[] | undefined;
  readonly allowIpForwarding: boolean;
};

export type NetworkEdge = {
  readonly clock: Clock;
  /** For what is no reason to fail. */
  readonly warn: (text: string) => void;
  /** The path of the node's namespace; not given: the one that this process is in. */
  readonly nodeNamespace?: string | undefined;
};

export type NodeSide = {
  readonly hostSide: string;
  readonly holder: string;
  /** Also one that does not say whose it is: the original's plugin made it, or it is half made. */
  readonly orNobodys: boolean;
};
