// Everything that main thread and worker threads say to each other. Bytes are views of shared memory: sending one costs a
// reference. Bound: a worker that does not keep up (see worker-gauges.ts) is sent positions without bytes, and its sessions ask.

import type { Log, LogFields } from "../../../base/lib/index.ts";
import type { Refusal } from "../../../base/security/index.ts";
import type { SyncerType, SyncStatus } from "../../../calico/model/basics.ts";
import type { Position, Snapshot, Variant } from "../../cache/index.ts";
import type {
  CatchUp,
  ClientReport,
  FanoutLimits,
  Flush,
  SessionEnd,
  TallyItem,
  WriteRecord,
} from "../../fanout/index.ts";
import type { ListenAddress } from "../listening/claim-port.ts";
import type { TlsSetup } from "../listening/listener.ts";
import type { GaugeMemory } from "./worker-gauges.ts";

/** What a worker is started with. */
export type WorkerSetup = {
  readonly number: number;
  readonly listen: ListenAddress;
  readonly tls: TlsSetup | undefined;
  readonly isFresh: boolean;
  readonly limits: FanoutLimits;
  readonly preference: readonly ("zstd" | "snappy")[];
  readonly version: string;
  readonly leastLogged: keyof Log;
  readonly gauges: GaugeMemory;
  readonly flushed: ReadonlyMap<SyncerType, { readonly position: Position; readonly status: SyncStatus }>;
};

/** A part that an earlier snapshot had as well is only named: by its place among the parts of snapshot `basis`. */
export type SentSnapshot = Omit<Snapshot, "parts"> & {
  readonly basis: number | undefined;
  readonly parts: readonly (Uint8Array | number)[];
};

export type ToWorker =
  | { readonly is: "flush"; readonly syncer: SyncerType; readonly flush: Flush }
  /** Hundreds of parts are dear to send; a snapshot that the worker has already been sent is only named. */
  | {
      readonly is: "snapshot";
      readonly request: number;
      readonly lease: number;
      readonly id: number;
      readonly snapshot: SentSnapshot | undefined;
    }
  /** The snapshot will not be named again. */
  | { readonly is: "forgetSnapshot"; readonly id: number }
  | { readonly is: "changes"; readonly request: number; readonly changes: CatchUp | "forgotten" }
  | { readonly is: "drop"; readonly request: number; readonly ids: readonly bigint[]; readonly why: SessionEnd }
  | { readonly is: "report"; readonly request: number }
  | { readonly is: "askWrites"; readonly request: number; readonly syncer: SyncerType; readonly since: Position }
  | { readonly is: "material"; readonly material: TlsSetup["material"] }
  | { readonly is: "freshness"; readonly isFresh: boolean }
  | { readonly is: "neighbourAnswer"; readonly request: number; readonly text: string }
  | { readonly is: "closeListener" }
  | { readonly is: "stop" };

export type FromWorker =
  | { readonly is: "listening"; readonly port: number }
  | { readonly is: "cannotListen"; readonly code: string; readonly problem: string; readonly next: string }
  | { readonly is: "askSnapshot"; readonly request: number; readonly syncer: SyncerType; readonly variant: Variant }
  | { readonly is: "release"; readonly lease: number }
  | {
      readonly is: "askChanges";
      readonly request: number;
      readonly syncer: SyncerType;
      readonly since: Position;
      readonly variant: Variant;
    }
  | { readonly is: "variants"; readonly syncer: SyncerType; readonly variants: readonly Variant[] }
  | {
      readonly is: "pulse";
      readonly active: number;
      readonly oldest: ReadonlyMap<SyncerType, Position>;
      readonly metrics: readonly TallyItem[];
    }
  | { readonly is: "report"; readonly request: number; readonly clients: readonly ClientReport[] }
  | { readonly is: "writes"; readonly request: number; readonly writes: readonly WriteRecord[] }
  | { readonly is: "dropped"; readonly request: number; readonly count: number; readonly active: number }
  | { readonly is: "askNeighbourAnswer"; readonly request: number }
  | { readonly is: "refusal"; readonly refusal: Refusal }
  | {
      readonly is: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields: LogFields | undefined;
    };
