// What BIRD shall do, as data: the renderers of both generations write it down, the health check compares it with what BIRD says. Every text in
// here has been checked: addresses and networks are canonical, names are hashed or made of harmless characters.
import { highestBirdMetric } from "../../../calico/routing/index.ts";

export type BgpIntent = {
  readonly node: string;
  readonly routerId: string;
  readonly asNumber: number;
  readonly listenPort: number | undefined;
  readonly logLevel: "none" | "info" | "debug";
  /** Patterns that the protocol `direct` leaves out, beside Calico's own. */
  readonly ignoredInterfaces: readonly string[];
  /** The protocol number of the routes that the node's agent makes (FELIX_DEVICEROUTEPROTOCOL). */
  readonly agentProtocol: number;
  readonly families: readonly FamilyIntent[];
};

export type FamilyIntent = {
  readonly family: 4 | 6;
  /** Undefined: this node has none, and no sessions of the family. */
  readonly address: string | undefined;
  /** BGP is listened for on the node's address only. */
  readonly isBound: boolean;
  /** The kernel metric of a usual workload route. */
  readonly normalPriority: number;
  /** Own blocks and service routes; blackholes. */
  readonly blackholes: readonly string[];
  readonly hostRoutes: readonly { readonly to: string; readonly via: string }[];
  /** Announced whole; what is inside stays home, unless its priority is raised. */
  readonly ownBlocks: readonly string[];
  readonly communities: readonly { readonly cidr: string; readonly values: readonly Community[] }[];
  readonly heldBackPools: readonly string[];
  readonly exportedPools: readonly string[];
  /** Ranges and addresses of services that this node announces. */
  readonly serviceRoutes: readonly string[];
  /** A route reflector passes on whatever is inside. */
  readonly reflectedRanges: readonly string[];
  /** Nothing inside is put into the kernel. */
  readonly unprogrammedRanges: readonly string[];
  readonly kernelPools: readonly KernelPool[];
  readonly wireguardHops: readonly string[];
  /** Interfaces whose routes are not for internal peers. */
  readonly tunnelInterfaces: readonly string[];
  readonly filters: readonly FilterIntent[];
  readonly sessions: readonly Session[];
};

export type KernelPool = {
  readonly cidr: string;
  readonly how: "program" | "leave" | "tunnel" | "tunnel-beyond-subnet";
  /** For a tunnel beyond the subnet. */
  readonly subnet?: string | undefined;
};

export type Community = readonly [number, number] | readonly [number, number, number];

export type SessionKind = "Mesh" | "Global" | "Node" | "Local_Workload";

export type Session = {
  /** Mesh_172_30_0_12; what `node status` and the health checks read. */
  readonly name: string;
  readonly kind: SessionKind;
  readonly address: string;
  readonly port: number | undefined;
  readonly asNumber: number;
  readonly localAs: number;
  /** Of the same AS: internal BGP. */
  readonly isInternal: boolean;
  readonly usesNodeAddress: boolean;
  readonly ttlSecurity: number | undefined;
  readonly isPassive: boolean;
  readonly restartSeconds: number | undefined;
  readonly keepaliveSeconds: number | undefined;
  /** Set: the peer is a client of this route reflector. */
  readonly clusterId: string | undefined;
  readonly password: string | undefined;
  readonly nextHop: "auto" | "self" | "keep";
  readonly allowedLocalAs: number | undefined;
  /** By the names of their functions; "missing": everything is rejected from there on. */
  readonly importFilters: readonly FilterCall[];
  readonly exportFilters: readonly FilterCall[];
};

export type FilterCall =
  | { readonly is: "call"; readonly symbol: string }
  | { readonly is: "missing"; readonly name: string };

export type FilterIntent = {
  readonly symbol: string;
  readonly rules: readonly FilterRule[];
};

export type FilterRule = {
  readonly conditions: readonly FilterCondition[];
  readonly operations: readonly FilterOperation[];
  readonly action: "accept" | "reject";
};

export type FilterCondition =
  | {
      readonly is: "net";
      readonly operator: "=" | "!=" | "~" | "!~";
      readonly cidr: string;
      readonly lengths?: readonly [number, number];
    }
  | { readonly is: "always" | "never" }
  | { readonly is: "learned from a peer" }
  | { readonly is: "interface"; readonly pattern: string }
  | { readonly is: "internal" | "external" }
  | { readonly is: "community"; readonly value: Community }
  | { readonly is: "path starts"; readonly asNumbers: readonly number[] }
  | { readonly is: "local preference"; readonly value: number };

export type FilterOperation =
  | { readonly is: "add community"; readonly value: Community }
  | { readonly is: "prepend"; readonly asNumbers: readonly number[] }
  | { readonly is: "local preference"; readonly value: number };

/** Something that a person should mend. The worst are those that keep a session or the whole configuration from being. */
export type BgpProblem = {
  readonly code:
    | "BGP_OBJECT"
    | "BGP_NODE_MISSING"
    | "BGP_ROUTER_ID"
    | "BGP_PEER"
    | "BGP_PEER_TWICE"
    | "BGP_FILTER_MISSING"
    | "BGP_PASSWORD"
    | "BGP_PASSWORD_MISSING"
    | "BGP_CONFIGURATION"
    | "BGP_COMMUNITY"
    | "BGP_IPIP";
  /** The object, as "BGPPeer tor". */
  readonly about: string;
  readonly says: string;
};

export const highestPriority = highestBirdMetric;
