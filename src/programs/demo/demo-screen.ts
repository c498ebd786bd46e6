// What the demo shows: an introduction in plain words, then one line that stays alive in a terminal, or a plain line now
// and then where the output goes elsewhere.
import type { Log, LogFields } from "../../base/lib/index.ts";
import type { NodesSummary } from "./demo-nodes.ts";

type DemoStatus = {
  /** Updates from the datastore so far: what the dashboard's plot of them counts. */
  readonly taken: number;
  readonly keys: number;
  readonly nodes: NodesSummary;
};

export type Introduction = {
  readonly address: string;
  readonly folder: string;
  readonly nodes: { readonly all: number; readonly connected: number; readonly connections: number };
  readonly commandName: string;
  readonly dashboard?: string;
};

const plainIntervalMs = 10_000;
/** As the dashboard's plots. */
const rateOverMs = 5000;

type Reading = { readonly atMs: number; readonly taken: number; readonly sent: number };

export class DemoScreen {
  readonly #out: NodeJS.WriteStream;
  readonly log: Log;
  #liveLength = 0;
  #plainAtMs = 0;
  #readings: Reading[] = [];

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
    const { all, connected, connections } = on.nodes;
    const watch = `${on.commandName} watch --server ${on.address} --certs ${on.folder}`;
    const nodes =
      all === connected
        ? `${all} nodes as clients, each showing its certificate and checking the server's`
        : `${connected} of the ${all} nodes as clients; one stays away, one is slow, one lacks a\n  BGP session, an address is leaked, all on purpose: the dashboard finds them`;
    const why = `  ${connections} connections: a node has one for each data set it follows, and three of the\n  nodes follow all four`;
    this.say(`
${on.dashboard === undefined ? "" : `Open the dashboard: ${on.dashboard}\n`}
What runs here:
  a simulated cluster in memory: nodes, policies, pods that come and go
  a Typha server on ${on.address}: it converts each change once and sends it
  to every client over mutual TLS, with certificates made for this run
  in ${on.folder}
  ${nodes}
${why}

Three things to try in another terminal: see what a node is told, follow the
changes to pods, look at a certificate.

  ${watch} --until in-sync --stats
  ${watch} --keys '/calico/v1/host/*/workload/*'
  ${on.commandName} certs inspect ${on.folder}/typha.crt

Ctrl-C stops everything and removes what was made.
`);
  }

  status({ taken, keys, nodes }: DemoStatus): void {
    const nowMs = performance.now();
    const isDue = this.#out.isTTY || this.#plainAtMs === 0 || nowMs - this.#plainAtMs >= plainIntervalMs;
    const rates = this.#rates({ atMs: nowMs, taken, sent: nodes.updates });
    const text = `${nodes.inSync} of ${nodes.nodes} nodes in sync (${nodes.connections} connections), ${keys} keys, ${rates}`;
    if (!isDue) return;
    this.#plainAtMs = nowMs;
    if (!this.#out.isTTY) this.say(text);
    else {
      this.#clear();
      this.#out.write(text.slice(0, Math.max(20, this.#out.columns - 1)));
      this.#liveLength = text.length;
    }
  }

  /** Over the last five seconds. */
  #rates(now: Reading): string {
    const oldest = this.#readings.findLastIndex(({ atMs }) => now.atMs - atMs >= rateOverMs);
    this.#readings = [...this.#readings.slice(Math.max(0, oldest)), now];
    const before = this.#readings[0] ?? now;
    const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1000);
    return `${Math.round((now.taken - before.taken) / seconds)} updates/s in, ${Math.round((now.sent - before.sent) / seconds)}/s out`;
  }

  #clear(): void {
    if (this.#liveLength > 0) this.#out.write("\r\x1b[2K");
    this.#liveLength = 0;
  }
}
