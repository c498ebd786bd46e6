// The interface of address management: who asks for addresses, gives them back, or wants to know. Opened over an access by open-ipam.ts.
import type { AddressRange } from "../../base/lib/index.ts";
import type {
  AddressesReleased,
  AssignedAddress,
  Assignment,
  Attribute,
  ClaimsReleased,
  HeldAddress,
  RangeClaimed,
  ReleaseRequest,
  Use,
  Utilization,
} from "../ipam/index.ts";
import type { Labels } from "../model/index.ts";
import type { Call, IpamConfig } from "./access.ts";

/** Whoever holds addresses. */
export type ForWhom = {
  /** The node. Of no meaning to "LoadBalancer", whose blocks belong to no node. */
  readonly node: string;
  readonly use: Use;
  /** The name under which they are held, and can be released together. */
  readonly handle?: string | undefined;
  /** Noted beside each address, for people: node, pod, namespace, timestamp, type. */
  readonly attributes?: { readonly [name: string]: string };
  /**
   * For who may ask twice and means the same: an address that the handle holds already, with attributes that this accepts, is
   * given back instead of a second one.
   */
  readonly isSame?: (held: Attribute) => boolean;
};

export type Wanted = {
  readonly count: number;
  /** By name or CIDR; none: the pools choose by their selectors. */
  readonly pools?: readonly string[];
};

export type AutoAssignRequest = ForWhom & {
  readonly ipv4?: Wanted;
  readonly ipv6?: Wanted;
  readonly namespaceLabels?: Labels;
  /** The most blocks that the node may have for this request; 0: no limit of its own. */
  readonly maxBlocks?: number;
  /** Some are better than none. Otherwise, where any is missing, all are given back and "too-few" is thrown. */
  readonly fewerIsFine?: boolean;
};

export type AssignedOfFamily = {
  /** Each with its block, whose mask the CNI result carries. */
  readonly addresses: readonly AssignedAddress[];
  /** Why there are fewer than asked for. */
  readonly notes: readonly string[];
};

export type NamedAssignRequest = ForWhom & { readonly address: string };

/**
 * Every method throws IpamError for what IPAM refuses, and ResourceError for what the datastore says. With a signal that aborts, what
 * was begun is undone within 30 seconds, and the signal's reason thrown.
 */
export type Ipam = {
  /** Of both families or none: where the second fails, the first one's addresses are given back. */
  autoAssign(request: AutoAssignRequest, call?: Call): Promise<{ ipv4: AssignedOfFamily; ipv6: AssignedOfFamily }>;
  assignIP(request: NamedAssignRequest, call?: Call): Promise<AssignedAddress>;

  releaseIPs(requests: readonly ReleaseRequest[], call?: Call): Promise<AddressesReleased>;
  /** All that the handle holds. One that is not there holds nothing. */
  releaseByHandle(handle: string, call?: Call): Promise<readonly AddressRange[]>;

  /** Undefined: there is no such handle. */
  ipsByHandle(handle: string, call?: Call): Promise<readonly HeldAddress[] | undefined>;
  getAssignmentAttributes(address: string, call?: Call): Promise<Assignment>;

  claimAffinity(cidr: string, node: string, call?: Call): Promise<RangeClaimed & { is: "claimed" }>;
  releaseAffinity(cidr: string, node: string, options: Call & MustBeEmpty): Promise<ClaimsReleased>;
  releaseHostAffinities(node: string, options: Call & MustBeEmpty): Promise<ClaimsReleased>;
  releasePoolAffinities(cidr: string, call?: Call): Promise<ClaimsReleased>;
  /** A node that is gone: its claims go, whatever is held in its blocks stays. */
  removeHost(node: string, call?: Call): Promise<ClaimsReleased>;
  /** That the node has a block of each family that has pools. */
  ensureBlock(
    node: string,
    options?: Call,
  ): Promise<{ ipv4: AddressRange | undefined; ipv6: AddressRange | undefined }>;

  getConfig(call?: Call): Promise<IpamConfig>;
  setConfig(config: IpamConfig, call?: Call): Promise<void>;

  /** Of the pools with these names or CIDRs; none: of all, and of blocks that are in no pool. */
  getUtilization(pools?: readonly string[], call?: Call): Promise<Utilization>;
  /** Affinities that an old release wrote get the labels by which they are found. How many did. */
  upgradeHost(node: string, call?: Call): Promise<number>;
  /** Frees what has waited long enough in a block. How many addresses. */
  collectCold(cidr: string, call?: Call): Promise<number>;
};

export type MustBeEmpty = { readonly mustBeEmpty: boolean };
