// Keys and values as a cluster has them (workload endpoints), stamped with their time of sending, and the Go clients that
// receive them and keep the latencies.
import { setTimeout as sleep } from "node:timers/promises";
import { type ClientStats, GoClients } from "../../test/kit/go-clients.ts";
import type { Kv } from "./subjects.ts";

export function endpoint(index: number, options: { sentNanos?: number; type?: 1 | 2 } = {}): Kv {
  const { sentNanos = 0, type = 1 } = options;
  const labels = Array.from(
    { length: 12 },
    (_, label) => `"label-${label}":"value-${(index * 7919 + label * 104_729) % 100_000}"`,
  );
  const octets = `${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return {
    key: `/calico/v1/host/node-${index % 1000}/workload/k8s/default%2fpod-${index}/endpoint/eth0`,
    value:
      `{"state":"active","name":"cali${((index * 2_654_435_761) % 2 ** 32).toString(16)}","mac":"ee:ee:ee:ee:ee:ee",` +
      `"profile_ids":["kns.default"],"ipv4_nets":["10.${octets}/32"],"labels":{${labels.join(",")}},"sentNanos":${sentNanos}}`,
    type,
  };
}

export function nowNanos(): number {
  // Microseconds: a double holds no finer instant of this century.
  return Math.floor((performance.timeOrigin + performance.now()) * 1000) * 1000;
}

export class Clients implements AsyncDisposable {
  readonly #clients: GoClients;
  readonly #count: number;

  constructor(server: { port: number }, count: number, flags: readonly string[]) {
    this.#count = count;
    const patience = ["--timeout", "120s", "--dial-timeout", "120s"]; // a slow server is a figure, not a failure
    const all = ["--clients", `${count}`, "--stats", "--stats-every", "100ms", ...patience, ...flags];
    this.#clients = new GoClients({ address: { port: server.port } }, all);
  }

  async inSync(): Promise<void> {
    const isSo = (): true | undefined => (this.last?.inSync === this.#count ? true : undefined);
    await this.#clients.until(isSo, `${this.#count} clients in sync; ${JSON.stringify(this.last)}`, 180_000);
  }

  get last(): ClientStats | undefined {
    return this.#clients.events.findLast(({ stats }) => stats !== undefined)?.stats;
  }

  /** Waits until the clients have received this many, or nothing more comes. */
  async received(kvs: number): Promise<number> {
    let seen = -1;
    let quiet = 0;
    while (quiet < 20) {
      const now = this.last?.kvs ?? 0;
      if (now >= kvs) return now;
      quiet = now === seen ? quiet + 1 : 0;
      seen = now;
      await sleep(100);
    }
    return seen;
  }

  close(): Promise<ClientStats> {
    return this.#clients.finalStats();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clients[Symbol.asyncDispose]();
  }
}
