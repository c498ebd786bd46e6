// What a worker tells the main thread without a message: how many flushes it has taken, and what one costs it. Two counters
// in shared memory, because a message for each flush would cost more than the flush.
import { type SyncerType, syncerTypes } from "../../../calico/model/basics.ts";

/** [flushes taken, then for each syncer what one costs in microseconds] */
export type GaugeMemory = Int32Array<SharedArrayBuffer>;

export function gaugeMemory(): GaugeMemory {
  return new Int32Array(new SharedArrayBuffer(4 * (1 + syncerTypes.length)));
}

/** On the worker. */
export function noteFlushTaken(gauges: GaugeMemory, syncer: SyncerType, costMs: number): void {
  Atomics.store(gauges, placeOf(syncer), Math.round(costMs * 1000));
  Atomics.add(gauges, 0, 1);
}

/** Of those sent, how many the worker has not taken. Both counts may wrap around. */
export function flushesWaiting(gauges: GaugeMemory, sent: number): number {
  return (sent - Atomics.load(gauges, 0)) | 0;
}

export function flushCostMs(gauges: GaugeMemory, syncer: SyncerType): number {
  return Atomics.load(gauges, placeOf(syncer)) / 1000;
}

function placeOf(syncer: SyncerType): number {
  return 1 + syncerTypes.indexOf(syncer);
}
