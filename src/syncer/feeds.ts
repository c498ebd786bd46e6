// The four syncers as one table: which kinds feed them, through which conversion, in either datastore. A kind is followed
// once, however many syncers want it.
import {
  createEndpointSliceProcessor,
  createNamespaceProcessor,
  createNodeProcessor,
  createPodProcessor,
  createServiceAccountProcessor,
  createServiceProcessor,
  createVirtualMachineMigrationProcessor,
  defaultAllowKvs,
} from "../convert/index.ts";
import type { Flavour } from "../datastore/index.ts";
import type { SyncerType } from "../model/index.ts";
import type { FedSyncer, Feed } from "./feed.ts";

/** A row, and where it holds. */
type Row = Feed & {
  readonly in: readonly Flavour[];
  /** With USE_POD_CIDR there is no IPAM to look at. */
  readonly isIpam?: true;
};

const kubernetes: readonly Flavour[] = ["kubernetes"];
const to = (...syncers: SyncerType[]): FedSyncer[] => syncers.map((syncer) => ({ syncer }));

// Felix alone gets a node's tunnel addresses as settings of their own.
const isNodeItself = (path: string) => path.startsWith("/calico/resources/");
const nodeSyncers: FedSyncer[] = [
  { syncer: "felix" },
  { syncer: "bgp", wants: isNodeItself },
  { syncer: "tunnel-ip-allocation", wants: isNodeItself },
];

const rows: readonly Row[] = [
  { kind: "Node", in: kubernetes, createProcessor: createNodeProcessor, syncers: nodeSyncers },
  {
    kind: "Namespace",
    in: kubernetes,
    createProcessor: createNamespaceProcessor,
    constant: defaultAllowKvs,
    syncers: to("felix"),
  },
  { kind: "ServiceAccount", in: kubernetes, createProcessor: createServiceAccountProcessor, syncers: to("felix") },
  { kind: "Pod", in: kubernetes, createProcessor: createPodProcessor, syncers: to("felix") },
  { kind: "Service", in: kubernetes, createProcessor: createServiceProcessor, syncers: to("felix") },
  { kind: "EndpointSlice", in: kubernetes, createProcessor: createEndpointSliceProcessor, syncers: to("felix") },
  {
    kind: "VirtualMachineInstanceMigration",
    in: kubernetes,
    createProcessor: createVirtualMachineMigrationProcessor,
    syncers: to("felix"),
  },
];

export function feedsOf({ flavour, usePodCidr }: { flavour: Flavour; usePodCidr: boolean }): readonly Feed[] {
  return rows.filter((row) => row.in.includes(flavour) && !(usePodCidr && row.isIpam === true));
}
