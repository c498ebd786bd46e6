// One row of the syncers' table: a kind, how its objects become key/values, and which syncers get which of them.
import type { Processor, ProcessorOutput } from "../convert/index.ts";
import type { Flavour, Kind } from "../kinds/index.ts";
import type { SyncerType } from "../model/index.ts";

export type ConversionOptions = {
  readonly flavour: Flavour;
  /** USE_POD_CIDR: blocks and tunnel addresses come from the nodes' pod CIDRs, and IPAM is not looked at. */
  readonly usePodCidr: boolean;
  /** FELIX_INTERFACEPREFIX of this process; "" means the default. */
  readonly interfacePrefix: string;
};

export type Feed = {
  readonly kind: Kind;
  createProcessor(options: ConversionOptions): Processor;
  /** What is there whatever the datastore holds; announced before the kind is in sync. */
  readonly constant?: ProcessorOutput["kvs"];
  readonly syncers: readonly FedSyncer[];
};

export type FedSyncer = {
  readonly syncer: SyncerType;
  /** Absent: everything the kind yields. */
  readonly wants?: (path: string) => boolean;
};
