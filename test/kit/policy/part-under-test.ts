// The part of the agent that enforces policy, in this process, fed with the key/values of a policy world.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/base/lib/index.ts";
import { createMetrics } from "../../../src/base/observe/index.ts";
import {
  type PolicyPartOptions,
  policyMetricLabels,
  policyMetricRows,
  policyPart,
} from "../../../src/node/dataplane/index.ts";
import type { FeedConsumer, PartWorld } from "../../../src/node/part/index.ts";
import { eventually } from "../eventually.ts";
import { recordLog } from "../recorded-log.ts";

export type PartUnderTestOptions = PolicyPartOptions & {
  readonly node: string;
  readonly settings?: { readonly [name: string]: string };
};

const folders: string[] = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export class PartUnderTest {
  readonly recorded = recordLog();
  readonly statusFolder = mkdtempSync(join(tmpdir(), "cattail-policy-status-"));
  readonly metrics = createMetrics({
    table: policyMetricRows,
    labels: policyMetricLabels,
    clock: systemClock,
    includesProcess: false,
    includesRuntime: false,
  });
  readonly #options: PartUnderTestOptions;
  readonly #said = new Map<string, string>();
  readonly #listeners = new Set<(names: readonly string[]) => void>();
  #settings: { readonly [name: string]: string };
  #consumer: FeedConsumer | undefined;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  #failure: unknown;
  #isHeld = false;
  #wakes = 0;
  reports = 0;
  ready = false;
  detail = "";
  cutOff: string | undefined;

  constructor(options: PartUnderTestOptions) {
    this.#options = options;
    this.#settings = lowered(options.settings ?? {});
    folders.push(this.statusFolder);
  }

  start(settings?: { readonly [name: string]: string }): void {
    this.#settings = { ...lowered(this.#options.settings ?? {}), ...lowered(settings ?? {}) };
    const stop = new AbortController();
    const ended = policyPart(this.#options)
      .run(this.#world(), stop.signal)
      .catch((error: unknown) => {
        this.#failure = error;
      });
    this.ready = false;
    this.#running = { stop, ended };
  }

  /** From the next start on nothing is in sync. */
  hold(): void {
    this.#isHeld = true;
  }

  get isFollowing(): boolean {
    return this.#consumer !== undefined;
  }

  async stop(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.ended;
    this.#running = undefined;
    this.#consumer = undefined;
  }

  /** Until everything that was said is in force. */
  async settled(): Promise<void> {
    // A report may be of what was before; the one after the next one is not.
    const since = this.reports;
    this.#wake();
    await eventually(() => {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.reports === since + 1) this.#wake();
      return (this.ready || this.cutOff !== undefined) && this.reports > since + 1;
    }, "the part to be done");
  }

  /** By something that the part has to look at and that changes no rule: it sleeps through what concerns nobody here. */
  #wake(): void {
    this.#wakes += 1;
    this.#consumer?.set("/calico/v1/host/nobody/config/Nothing", String(this.#wakes));
    this.#consumer?.settled(this.#state());
  }

  /** Undefined takes the value away. Nothing is settled by it. */
  say(path: string, value: string | undefined): void {
    if (value === undefined) {
      if (this.#said.delete(path)) this.#consumer?.delete(path);
    } else if (this.#said.get(path) !== value) {
      this.#said.set(path, value);
      this.#consumer?.set(path, value);
    } else return;
    if (path.includes("/config/")) for (const listener of this.#listeners) listener([path.split("/").at(-1) ?? ""]);
  }

  /** Says the difference to what was said. */
  sayAll(wanted: ReadonlyMap<string, string>): void {
    for (const path of [...this.#said.keys()]) if (!wanted.has(path)) this.say(path, undefined);
    for (const [path, value] of wanted) this.say(path, value);
    this.#consumer?.settled(this.#state());
  }

  /** What was said is a batch. */
  ring(): void {
    this.#consumer?.settled(this.#state());
  }

  /** In this process, without a server: as if somebody had set it in the environment. */
  configure(settings: { readonly [name: string]: string }): void {
    this.#settings = { ...lowered(this.#options.settings ?? {}), ...lowered(settings ?? {}) };
    for (const listener of this.#listeners) listener(Object.keys(settings));
  }

  #state() {
    return { inSync: !this.#isHeld, ...(this.cutOff === undefined ? {} : { cutOff: this.cutOff }) };
  }

  #setting(name: string): string | undefined {
    const own = this.#settings[name.toLowerCase()];
    if (own !== undefined) return own;
    const inData = (prefix: string) =>
      [...this.#said].find(([path]) => path.toLowerCase() === `${prefix}${name}`.toLowerCase())?.[1];
    return inData(`/calico/v1/host/${this.#options.node}/config/`) ?? inData("/calico/v1/config/");
  }

  #world(): PartWorld {
    return {
      node: this.#options.node,
      log: this.recorded.log,
      clock: systemClock,
      metrics: this.metrics,
      health: {
        report: ({ ready = true, detail = "" }) => {
          this.reports += 1;
          this.ready = ready;
          this.detail = detail;
        },
      },
      feed: {
        follow: (_, consumer) => {
          this.#consumer = consumer;
          for (const [path, value] of this.#said) consumer.set(path, value);
          consumer.settled(this.#state());
          return { [Symbol.dispose]: () => undefined };
        },
      },
      settings: {
        raw: (name) => this.#setting(name) ?? (name === "EndpointStatusPathPrefix" ? this.statusFolder : undefined),
        onChange: (listener) => {
          this.#listeners.add(listener);
          return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
        },
      },
      datastore: () => Promise.reject(new Error("this part needs no datastore")),
    };
  }
}

/** Names compare without case. */
function lowered(settings: { readonly [name: string]: string }): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name.toLowerCase(), value]));
}
