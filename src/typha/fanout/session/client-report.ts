// One connected client as an operator sees it (/clients, the dashboard), and as shedding looks at it. Plain data, because
// it crosses threads. Texts that come from the client are cut: they end in logs and pages.

import type { SyncerType } from "../../../calico/model/basics.ts";
import type { Position } from "../../cache/index.ts";

export type ClientReport = {
  readonly id: bigint;
  readonly address: string;
  /** What the client calls its node; "" before its hello. */
  readonly node: string;
  readonly syncer: SyncerType | undefined;
  readonly version: string;
  readonly info: string;
  readonly phase: "hello" | "acknowledging" | "snapshot" | "streaming";
  readonly compression: "none" | "snappy" | "zstd";
  readonly policyKeys: "modern" | "legacy";
  readonly restartsDecoder: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly connectedAtMs: number;
  readonly position: Position;
  /** Changes that have not been sent to it. */
  readonly lagUpdates: number;
  /** How much older than the newest change the first one is that waits for it; 0 when it is not behind. */
  readonly lagMs: number;
  readonly bytesSent: number;
  /** Bytes that the kernel has not taken. */
  readonly queuedBytes: number;
  /** Round trip of the last ping, or how long the next has been unanswered if that is longer. */
  readonly pingMs: number | undefined;
  /** Worker thread, 0 being the main thread. */
  readonly worker: number;
};

export function cut(text: string): string {
  return text.length <= 256 ? text : `${text.slice(0, 255)}…`;
}
