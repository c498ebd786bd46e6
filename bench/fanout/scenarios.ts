// The six questions. Deltas: what does one delivered update cost, and how late is it? Connecting: what do clients that come
// all at once cost, and how long do they wait? Reconnecting: what does a snapshot cost after a small change?
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientStats } from "../../test/kit/go-clients.ts";
import { median } from "../median.ts";
import { Clients, endpoint, nowNanos } from "./load.ts";
import type { Use } from "./process-use.ts";
import type { ServerName, Subject } from "./subjects.ts";

export type Result = {
  scenario: string;
  server: ServerName;
  clients: number;
  keys: number;
  deliveries: number;
  cpuMicrosPerDelivery: number;
  p50Ms: number;
  p99Ms: number;
  inSyncMs: number;
  snapshotCpuMs: number;
  rssMb: number;
  peakRssMb: number;
};

type Run = (subject: Subject, flags: readonly string[]) => Promise<Omit<Result, "scenario" | "server">>;
export type Scenario = { readonly name: string; readonly says: string; readonly run: Run };

/** Long enough that the 99th percentile is more than one bad moment: of 5 s it is what happens in 50 ms. */
const seconds = 20;

export const scenarios: readonly Scenario[] = [
  {
    name: "batch-100",
    says: "100 clients, batches of 100 updates",
    run: deltas({ clients: 100, keys: 10_000, batch: 100, perSecond: 20, seconds }),
  },
  {
    name: "batch-5",
    says: "100 clients, batches of 5 updates",
    run: deltas({ clients: 100, keys: 10_000, batch: 5, perSecond: 100, seconds }),
  },
  {
    name: "single-500",
    says: "500 clients, single updates",
    run: deltas({ clients: 500, keys: 10_000, batch: 1, perSecond: 200, seconds }),
  },
  {
    name: "storm-1000",
    says: "1,000 clients connect at once to 10,000 keys",
    run: connecting({ clients: 1000, keys: 10_000 }),
  },
  { name: "large-50", says: "50 clients connect to 100,000 keys", run: connecting({ clients: 50, keys: 100_000 }) },
  {
    name: "reconnect-100",
    says: "100 clients reconnect after 10 of 100,000 keys changed",
    run: reconnecting({ clients: 100, keys: 100_000, changed: 10 }),
  },
];

/** For `--scenario flat-N`: is the cost of one delivery the same for 10 and for 1,000 clients? */
export function flat(clients: number): Scenario {
  const run = deltas({ clients, keys: 1000, batch: 100, perSecond: 10, seconds: 5 });
  return { name: `flat-${clients}`, says: `${clients} clients, batches of 100 updates`, run };
}

/** For `--scenario storm-CLIENTS-KEYS`: what does a server of this size need when everybody comes at once? */
export function storm(clients: number, keys: number): Scenario {
  const says = `${clients} clients connect at once to ${keys} keys`;
  return { name: `storm-${clients}-${keys}`, says, run: connecting({ clients, keys }) };
}

async function fill(subject: Subject, keys: number): Promise<void> {
  for (let start = 0; start < keys; start += 1000) {
    await subject.apply(Array.from({ length: Math.min(1000, keys - start) }, (_, index) => endpoint(start + index)));
  }
  await subject.setInSync();
}

function deltas(how: { clients: number; keys: number; batch: number; perSecond: number; seconds: number }): Run {
  return async (subject, flags) => {
    const { clients: count, keys, batch, perSecond, seconds } = how;
    await fill(subject, keys);
    await using clients = new Clients(subject, count, flags);
    const beforeSnapshot = subject.use();
    await clients.inSync();
    await sleep(1000); // idle before the measurement: garbage of the connecting is not what is measured
    const before = subject.use();
    const received = clients.last?.kvs ?? 0;
    const batches = perSecond * seconds;
    const startMs = performance.now();
    for (let number = 0; number < batches; number += 1) {
      // Open loop: the next batch is due at its time, whether or not the server has coped with the last.
      const dueMs = startMs + (number * 1000) / perSecond;
      const leftMs = dueMs - performance.now();
      if (leftMs > 0) await sleep(leftMs);
      const sentNanos = nowNanos();
      await subject.apply(
        Array.from({ length: batch }, (_, index) => endpoint((number * batch + index) % keys, { sentNanos, type: 2 })),
      );
    }
    const deliveries = (await clients.received(received + batches * batch * count)) - received;
    const after = subject.use();
    const stats = await clients.close();
    const snapshotCpuMs = before.cpuMs - beforeSnapshot.cpuMs;
    return { clients: count, keys, ...cost(before, after, deliveries), ...times(stats, "latencyMs"), snapshotCpuMs };
  };
}

/** Latencies are those until in-sync here. */
function connecting(how: { clients: number; keys: number }): Run {
  return async (subject, flags) => {
    const { clients: count, keys } = how;
    await fill(subject, keys);
    await sleep(2000);
    return { clients: count, keys, ...(await connectAll(subject, { count, keys, flags })) };
  };
}

type Connected = Omit<Result, "scenario" | "server" | "clients" | "keys">;

async function connectAll(
  subject: Subject,
  how: { count: number; keys: number; flags: readonly string[] },
): Promise<Connected> {
  const before = subject.use();
  await using clients = new Clients(subject, how.count, how.flags);
  await clients.inSync();
  const after = subject.use();
  const stats = await clients.close();
  const snapshotCpuMs = after.cpuMs - before.cpuMs;
  return { ...cost(before, after, how.count * how.keys), ...times(stats, "inSyncMs"), snapshotCpuMs };
}

type Cost = Pick<Result, "deliveries" | "cpuMicrosPerDelivery" | "rssMb" | "peakRssMb">;

function cost(before: Use, after: Use, deliveries: number): Cost {
  const cpuMicrosPerDelivery = ((after.cpuMs - before.cpuMs) * 1000) / deliveries;
  return { deliveries, cpuMicrosPerDelivery, rssMb: after.rssMb, peakRssMb: after.peakRssMb };
}

function times(stats: ClientStats, of: "latencyMs" | "inSyncMs"): Pick<Result, "p50Ms" | "p99Ms" | "inSyncMs"> {
  const { p50 = Number.NaN, p99 = Number.NaN } = stats[of] ?? {};
  return { p50Ms: p50, p99Ms: p99, inSyncMs: stats.inSyncMs?.max ?? Number.NaN };
}

/**
 * The cost of the snapshot by itself is what one client costs after the change, less what it costs when nothing changed:
 * the connection and the bytes through the kernel are the same. Median of five.
 */
function reconnecting(how: { clients: number; keys: number; changed: number }): Run {
  return async (subject, flags) => {
    const { clients: count, keys, changed } = how;
    await fill(subject, keys);
    await sleep(2000);
    await connectAll(subject, { count: 1, keys, flags });
    const change = async (round: number): Promise<void> => {
      const touched = Array.from({ length: changed }, (_, index) => (index * 9973 + round * 101) % keys);
      await subject.apply(touched.map((index) => endpoint(index, { sentNanos: round, type: 2 })));
      await sleep(1500); // longer than a snapshot stays good after a change, in either server
    };
    const costs: number[] = [];
    for (let round = 1; round <= 5; round += 1) {
      await change(round);
      const changedCost = await connectAll(subject, { count: 1, keys, flags });
      await sleep(200);
      const sameCost = await connectAll(subject, { count: 1, keys, flags });
      costs.push(Math.max(0, changedCost.snapshotCpuMs - sameCost.snapshotCpuMs));
    }
    await change(6);
    const all = await connectAll(subject, { count, keys, flags });
    return { clients: count, keys, ...all, snapshotCpuMs: median(costs) };
  };
}
