// What the demo shows: an introduction in plain words, then one line that stays alive in a terminal, or a plain line now
// and then where the output goes elsewhere.
import type { Log, LogFields } from "../../base/lib/index.ts";
import type { NodesSummary } from "./demo-nodes.ts";

export type DemoStatus = {
  readonly changes: number;
  readonly keys: number;
  readonly nodes: NodesSummary;
};

export type Introduction = {
  readonly address: string;
  readonly folder: string;
  readonly nodes: { readonly all: number; readonly connected: number };
  readonly commandName: string;
  readonly dashboard?: string;
};

const plainIntervalMs = 10_000;

export class DemoScreen {
  readonly #out: NodeJS.WriteStream;
  readonly log: Log;
  #liveLength = 0;
  #plainAtMs = 0;
  #last: { atMs: number; changes: number; updates: number } | undefined;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    const drop = () => undefined;
    // Connections are numbered by bigints, of which JSON knows nothing.
    const plainly = (_name: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
    const show = (message: string, fields: LogFields = {}) => this.say(`${message} ${JSON.stringify(fields, plainly)}`);
    this.log = { debug: drop, info: drop, warn: show, error: show };
  }

  say(text: string): void {
    this.#clear();
    this.#out.write(`${text}\n`);
  }

  /** Lines of at most 80 columns, but for the commands, which are to be copied whole. */
  introduce(on: Introduction): void {
    const { all, connected } = on.nodes;
    const watch = `${on.commandName} watch --server ${on.address} --certs ${on.folder}`;
    const nodes =
      all === connected
        ? `${all} nodes as clients, each showing its certificate and checking the server's`
        : `${connected} of the ${all} nodes as clients; one stays away and one is slow on purpose:\n  the dashboard should find both`;
    this.say(`
${on.dashboard === undefined ? "" : `Open the dashboard: ${on.dashboard}\n`}
What runs here:
  a simulated cluster in memory: nodes, policies, pods that come and go
  a Typha server on ${on.address}: it converts each change once and sends it
  to every client over mutual TLS, with certificates made for this run
  in ${on.folder}
  ${nodes}

Three things to try in another terminal: see what a node is told, follow the
changes to pods, look at a certificate.

  ${watch} --until in-sync --stats
  ${watch} --keys '/calico/v1/host/*/workload/*'
  ${on.commandName} certs inspect ${on.folder}/typha.crt

Ctrl-C stops everything and removes what was made.
`);
  }

  status(status: DemoStatus): void {
    const nowMs = performance.now();
    const { changes, nodes } = status;
    const before = this.#last ?? { atMs: nowMs - 1000, changes, updates: nodes.updates };
    const seconds = Math.max(0.001, (nowMs - before.atMs) / 1000);
    const changeRate = Math.round((changes - before.changes) / seconds);
    const deliveryRate = Math.round((nodes.updates - before.updates) / seconds);
    const text = `${nodes.inSync} of ${nodes.clients} clients in sync, ${status.keys} keys, ${changeRate} changes/s in the cluster, ${deliveryRate} deliveries/s`;
    if (this.#out.isTTY) {
      this.#last = { atMs: nowMs, changes, updates: nodes.updates };
      this.#clear();
      this.#out.write(text.slice(0, Math.max(20, this.#out.columns - 1)));
      this.#liveLength = text.length;
    } else if (nowMs - this.#plainAtMs >= plainIntervalMs || this.#plainAtMs === 0) {
      this.#last = { atMs: nowMs, changes, updates: nodes.updates };
      this.#plainAtMs = nowMs;
      this.say(text);
    }
  }

  #clear(): void {
    if (this.#liveLength > 0) this.#out.write("\r\x1b[2K");
    this.#liveLength = 0;
  }
}
