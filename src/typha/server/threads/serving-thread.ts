// What the server needs of a thread that serves clients, be it its own or a worker.

import type { SyncerType } from "../../../calico/model/basics.ts";
import type { Position } from "../../cache/index.ts";
import type { ClientReport, FlushSink, SessionEnd, WriteRecord } from "../../fanout/index.ts";
import type { TlsSetup } from "../listening/listener.ts";

export type ServingThread = FlushSink & {
  /** Connections, as of the last the thread said. */
  readonly activeCount: number;
  /** Since the thread last showed that its loop turns. */
  readonly silentForMs: number;
  /** This and the next two: nothing from a thread that does not answer within two seconds. */
  reports(): Promise<readonly ClientReport[]>;
  /** When what changed after the position was written to its clients, as far as that is remembered. */
  writesSince(syncer: SyncerType, position: Position): Promise<readonly WriteRecord[]>;
  /** How many of these connections were there and have been ended. */
  drop(ids: readonly bigint[], why: SessionEnd): Promise<number>;
  setMaterial(material: TlsSetup["material"]): void;
  /** What other servers are told that look for one to hand their clients to. */
  setFreshness(isFresh: boolean): void;
  closeListener(): void;
  /** Ends every connection. */
  stop(): Promise<void>;
};
