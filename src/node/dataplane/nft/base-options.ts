// What the chains that the kernel starts depend on beside settings: which pods may send from elsewhere, who governs the rest of the
// interfaces, and which tunnels there are.
import type { AddressRange } from "../../../base/lib/index.ts";
import type { Direction } from "../../../calico/policy/index.ts";
import type { BuildOptions } from "../settings.ts";
import type { HostStage } from "./endpoint-chains.ts";

export type BaseOptions = BuildOptions & {
  /** Networks whose addresses a pod may send from, by its interface. */
  readonly spoofedSources: readonly { readonly interfaceName: string; readonly net: AddressRange }[];
  /** The chain of the host endpoint that governs every interface that no other one does. */
  readonly ofOtherInterfaces: (stage: HostStage, direction: Direction) => string | undefined;
  readonly tunnels: Tunnels;
  /** Whether this node has a host endpoint at all. */
  readonly hasHostEndpoints: boolean;
};

/** Which encapsulations this node takes part in, by family. IPIP is of IPv4 only. */
export type Tunnels = { readonly vxlan: { readonly 4: boolean; readonly 6: boolean }; readonly ipip: boolean };
