// The demo's nodes: each follows the server as Felix does, a few also as confd and the others do. With two something is
// wrong on purpose, so that there is something to find: one never connects, and one lags behind a slow line.

import { type SyncerType, syncStatus } from "../../calico/model/index.ts";
import { filesOf } from "../../typha/certificates/index.ts";
import { follow } from "../../typha/client/index.ts";
import { nodeName } from "./index.ts";
import { startSlowLine } from "./slow-line.ts";

export type DemoNodesOptions = {
  readonly address: string;
  readonly folder: string;
  readonly count: number;
  readonly signal: AbortSignal;
};

export type NodesSummary = {
  readonly nodes: number;
  /** Of the nodes, those that are so on each of their connections. */
  readonly inSync: number;
  /** A node has one for each data set that it follows. */
  readonly connections: number;
  readonly updates: number;
};

const otherSyncers: readonly SyncerType[] = ["bgp", "tunnel-ip-allocation", "node-status"];
const nodesWithAllSyncers = 3;
/** Up to so many nodes, all are well. */
const mostWithoutTrouble = 10;

/** All but the last, where there are enough to miss one. */
export function connectable(count: number): number {
  return count > mostWithoutTrouble ? count - 1 : count;
}

export function startDemoNodes(options: DemoNodesOptions): DemoNodes {
  const nodes = new DemoNodes(options);
  nodes.start();
  return nodes;
}

class DemoNodes implements AsyncDisposable {
  readonly #options: DemoNodesOptions;
  readonly #running: Promise<void>[] = [];
  /** By node, how many of its connections are not in sync. */
  readonly #waiting: number[] = [];
  #updates = 0;

  constructor(options: DemoNodesOptions) {
    this.#options = options;
  }

  start(): void {
    for (let index = 0; index < this.connectable; index++) {
      this.#waiting[index] = 0;
      const isSlow = index === this.connectable - 1 && this.#options.count > mostWithoutTrouble;
      this.#running.push(isSlow ? this.#runBehindSlowLine(index) : this.#run(index, "felix"));
      if (index < nodesWithAllSyncers) for (const syncer of otherSyncers) this.#running.push(this.#run(index, syncer));
    }
  }

  get connectable(): number {
    return connectable(this.#options.count);
  }

  summary(): NodesSummary {
    const inSync = this.#waiting.filter((waiting) => waiting === 0).length;
    return { nodes: this.connectable, inSync, connections: this.#running.length, updates: this.#updates };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running);
  }

  async #runBehindSlowLine(index: number): Promise<void> {
    const { address, signal } = this.#options;
    await using line = await startSlowLine({ to: address, signal });
    await this.#run(index, "felix", line.address);
  }

  async #run(index: number, type: SyncerType, address = this.#options.address): Promise<void> {
    const { folder, signal } = this.#options;
    const caFile = filesOf("authority", folder).certFile;
    const updates = follow({
      servers: address,
      type,
      signal,
      hostname: nodeName(index),
      info: "cattail demo",
      version: "demo",
      tls: { ...filesOf("client", folder), caFile, server: { commonName: "calico-typha" } },
    });
    let isInSync = false;
    const wait = (more: 1 | -1) => {
      this.#waiting[index] = (this.#waiting[index] ?? 0) + more;
    };
    wait(1);
    for await (const update of updates) {
      if (update.is !== "status") this.#updates += 1;
      else if ((update.status === syncStatus.inSync) !== isInSync) {
        isInSync = !isInSync;
        wait(isInSync ? -1 : 1);
      }
    }
  }
}
