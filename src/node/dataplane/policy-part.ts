// The part of the agent that enforces policy: the felix data set in, packet rules out.
//
//   feed ─▶ NodePolicy ─┐
//   settings ───────────┼─▶ RulesetBuilder ─▶ Enforcer ─▶ nft ─▶ kernel          then: a file for each pod that is up
//   interfaces ─────────┘         ▲                                │
//                                 └── TableGuard: somebody else? ◀─┘
//
// Nothing is programmed before the feed was in sync once: what the last run left goes on filtering. Before that, only a node that has just
// booted gets a table that closes pods' interfaces (docs/decisions/0027).
import { messageOf, passAbort } from "../../base/lib/index.ts";
import { Bell } from "../../base/linux/index.ts";
import { openRulesetChanges } from "../../base/linux/kernel.ts";
import { NodePolicy } from "../../calico/policy/index.ts";
import type { FeedState, Part, PartWorld } from "../part/index.ts";
import { clusterFacts, isFactOfCluster } from "./cluster-facts.ts";
import { Enforcer } from "./kernel/enforcer.ts";
import { HostInterfaces } from "./kernel/host-interfaces.ts";
import { Nft } from "./kernel/nft.ts";
import { originalTables, removeOriginal } from "./kernel/original.ts";
import { type Seen, TableGuard } from "./kernel/table-guard.ts";
import { RulesetBuilder } from "./nft/build.ts";
import { dataplaneSettings } from "./settings.ts";
import { EndpointFiles, statusFileName, statusText } from "./status/endpoint-files.ts";
import { countPolicy } from "./status/policy-metrics.ts";
import { VoidValues } from "./status/void-values.ts";

export type PolicyPartOptions = {
  /** The path of the network namespace to work in; without: the one that this process is in. */
  readonly namespace?: string;
  /** Another nft than the one in PATH. */
  readonly nft?: string;
  /** False: the original's tables and chains stay. */
  readonly removesOriginal?: boolean;
};

export function policyPart(options: PolicyPartOptions = {}): Part {
  return {
    name: "policy",
    run: async (world, signal) => {
      // Its own end and the agent's are one to everything that runs inside.
      const stop = new AbortController();
      using _passing = passAbort(signal, stop);
      try {
        await using run = new PolicyRun(world, options, stop);
        await run.work();
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

/** How often the loop says that it lives, and files are looked at again. */
const tickMs = 10_000;
/** The first repair is at once; somebody who edits our table again and again, as a second agent would, is not answered in a busy loop. */
const betweenRepairs = { firstMs: 100, mostMs: 10_000, forgottenAfterMs: 30_000 };

class PolicyRun implements AsyncDisposable {
  readonly #world: PartWorld;
  readonly #options: PolicyPartOptions;
  readonly #stop: AbortController;
  readonly #signal: AbortSignal;
  readonly #bell: Bell;
  readonly #policy: NodePolicy;
  readonly #interfaces: HostInterfaces;
  readonly #changes;
  readonly #guard: TableGuard;
  readonly #nft: Nft;
  readonly #builder: RulesetBuilder;
  readonly #enforcer: Enforcer;
  #settings;
  /** Undefined: nobody wants them. */
  #files: EndpointFiles | undefined;
  readonly #voids = new VoidValues();
  #feed: FeedState = { inSync: false };
  readonly #dirty = { facts: true, settings: false, interfaces: true, files: true };
  /** The devices that packets of tunnels come in by. */
  #tunnels: readonly string[] = [];
  #table: Seen = "only ours";
  #isStarted = false;
  /** Taken since they were last counted. */
  readonly #news = { values: 0, links: 0, addresses: 0 };
  #refreshAtMs = 0;
  readonly #repairs = { lastMs: Number.NEGATIVE_INFINITY, gapMs: 0 };

  constructor(world: PartWorld, options: PolicyPartOptions, stop: AbortController) {
    const { signal } = stop;
    this.#world = world;
    this.#options = options;
    this.#stop = stop;
    this.#signal = signal;
    this.#bell = new Bell(world.clock, signal);
    this.#policy = new NodePolicy(world.node);
    this.#settings = dataplaneSettings(world.settings);
    this.#files = filesIn(this.#settings.statusFolder);
    const { namespace } = options;
    this.#interfaces = new HostInterfaces({ namespace, signal });
    this.#changes = openRulesetChanges({ namespace, signal });
    this.#guard = new TableGuard(this.#changes);
    this.#nft = new Nft({ namespace, program: options.nft }, world.metrics, world.log);
    this.#builder = new RulesetBuilder(this.#settings);
    this.#enforcer = new Enforcer({
      nft: this.#nft,
      builder: this.#builder,
      guard: this.#guard,
      log: world.log,
      metrics: world.metrics,
    });
  }

  async work(): Promise<void> {
    await this.#interfaces.list();
    await this.#closeAfterBoot();
    using _following = this.#world.feed.follow("felix", {
      set: (path, value) => this.#hear(path, value),
      delete: (path) => this.#hear(path, undefined),
      settled: (state) => {
        // Most of what others do changes no rule of this node.
        const isSame = state.inSync === this.#feed.inSync && state.cutOff === this.#feed.cutOff;
        this.#feed = state;
        this.#countBatch();
        if (!isSame || this.#policy.mayHaveChanged || this.#dirty.facts) this.#bell.ring();
      },
    });
    using _settings = this.#world.settings.onChange(() => {
      this.#dirty.settings = true;
      this.#bell.ring();
    });
    // Whichever of them fails ends the run, and no transaction is under way when it has ended.
    const tasks = [this.#loop(), this.#followInterfaces(), this.#followTable()];
    try {
      await Promise.race(tasks);
    } finally {
      this.#stop.abort();
      await Promise.allSettled(tasks);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#nft[Symbol.dispose]();
    await this.#changes[Symbol.asyncDispose]();
    await this.#interfaces[Symbol.asyncDispose]();
  }

  #hear(path: string, value: string | undefined): void {
    this.#policy.update(path, value);
    if (isFactOfCluster(path)) this.#dirty.facts = true;
    this.#world.metrics.add("felix_calc_graph_updates_processed", undefined, 1);
    this.#news.values += 1;
  }

  #countBatch(): void {
    const { metrics } = this.#world;
    metrics.add("felix_int_dataplane_messages", undefined, 1);
    metrics.observe("felix_int_dataplane_msg_batch_size", undefined, this.#news.values);
    this.#news.values = 0;
  }

  #countInterfaces(): void {
    const { metrics } = this.#world;
    const { links, addresses } = this.#news;
    if (links > 0) metrics.observe("felix_int_dataplane_iface_msg_batch_size", undefined, links);
    if (addresses > 0) metrics.observe("felix_int_dataplane_addr_msg_batch_size", undefined, addresses);
    Object.assign(this.#news, { links: 0, addresses: 0 });
  }

  async #loop(): Promise<void> {
    for (;;) {
      const isRung = await this.#bell.rungWithin(this.#waitMs());
      if (!isRung) {
        this.#files?.recheck();
        this.#dirty.files = true;
      }
      if (this.#feed.inSync) await this.#enforce();
      this.#report();
    }
  }

  #waitMs(): number {
    if (!this.#isStarted || this.#settings.refreshMs === undefined) return tickMs;
    return Math.max(0, Math.min(tickMs, this.#refreshAtMs - this.#world.clock.monotonicMs()));
  }

  async #enforce(): Promise<void> {
    const { clock, metrics } = this.#world;
    const startedMs = clock.monotonicMs();
    this.#takeNews();
    metrics.observe("felix_calc_graph_update_time_seconds", undefined, (clock.monotonicMs() - startedMs) / 1_000);
    if (!this.#isStarted) await this.#enforcer.adopt();
    else await this.#mend();
    this.#table = await this.#enforcer.apply();
    if (this.#table !== "only ours") this.#bell.ring();
    if (!this.#isStarted) await this.#started(startedMs);
    await this.#writeFiles();
  }

  async #started(startedMs: number): Promise<void> {
    const { clock, metrics, log } = this.#world;
    this.#isStarted = true;
    this.#refreshAtMs = clock.monotonicMs() + (this.#settings.refreshMs ?? 0);
    metrics.set(
      "felix_int_dataplane_initial_resync_time_seconds",
      undefined,
      (clock.monotonicMs() - startedMs) / 1_000,
    );
    log.info("Policy is in force", { ...this.#builder.ruleset.counts });
    // Ours is in force: what the original left can go, and nothing is open for a moment.
    if (this.#options.removesOriginal !== false)
      await removeOriginal({ nft: this.#nft, namespace: this.#options.namespace, log });
  }

  #takeNews(): void {
    if (this.#dirty.settings) this.#reconfigure();
    const changes = this.#policy.takeChanges();
    this.#builder.take(changes);
    this.#dirty.files ||= changes.endpoints.size > 0;
    this.#takeFacts();
    if (this.#dirty.interfaces) this.#builder.takeInterfaces(this.#interfaces.withAddresses);
    this.#countInterfaces();
    Object.assign(this.#dirty, { facts: false, interfaces: false });
  }

  #takeFacts(): void {
    const tunnels = this.#interfaces.names.filter((name) => name === "vxlan.calico" || name === "vxlan-v6.calico");
    if (!this.#dirty.facts && this.#tunnels.join() === tunnels.join()) return;
    this.#tunnels = tunnels;
    const hasDevice = (family: 4 | 6) => tunnels.includes(family === 4 ? "vxlan.calico" : "vxlan-v6.calico");
    const { externalNodes } = this.#settings;
    this.#builder.takeFacts(clusterFacts(this.#policy.data, { node: this.#world.node, hasDevice, externalNodes }));
  }

  #reconfigure(): void {
    this.#dirty.settings = false;
    this.#dirty.facts = true;
    const before = this.#settings;
    this.#settings = dataplaneSettings(this.#world.settings);
    this.#builder.configure(this.#settings);
    this.#refreshAtMs = Math.min(
      this.#refreshAtMs,
      this.#world.clock.monotonicMs() + (this.#settings.refreshMs ?? Number.POSITIVE_INFINITY),
    );
    if (before.statusFolder !== this.#settings.statusFolder) this.#files = filesIn(this.#settings.statusFolder);
    this.#dirty.files = true;
  }

  /** Puts back what somebody else has changed; and looks now and then, whether or not anybody was seen. */
  async #mend(): Promise<void> {
    const { clock, log, metrics } = this.#world;
    const nowMs = clock.monotonicMs();
    const isDue = this.#settings.refreshMs !== undefined && nowMs >= this.#refreshAtMs;
    if (this.#table === "somebody else's") {
      await this.#spaceRepairs(nowMs);
      log.warn("Somebody else has changed our table; it is put back", { table: "inet cattail" });
      metrics.add("felix_nft_repairs", undefined, 1);
      await this.#enforcer.adopt();
    } else if (isDue || this.#table === "not known") {
      if (await this.#enforcer.compare()) {
        log.warn("Our table is not as we left it; the difference is put back", { table: "inet cattail" });
        metrics.add("felix_nft_repairs", undefined, 1);
      }
    }
    if (isDue) this.#refreshAtMs = nowMs + (this.#settings.refreshMs ?? 0);
    this.#table = "only ours";
  }

  async #spaceRepairs(nowMs: number): Promise<void> {
    const { firstMs, mostMs, forgottenAfterMs } = betweenRepairs;
    const repairs = this.#repairs;
    if (nowMs - repairs.lastMs > forgottenAfterMs) repairs.gapMs = 0;
    await this.#world.clock.sleep(Math.max(0, repairs.lastMs + repairs.gapMs - nowMs), this.#signal);
    repairs.gapMs = Math.min(mostMs, Math.max(firstMs, repairs.gapMs * 2));
    repairs.lastMs = this.#world.clock.monotonicMs();
  }

  async #writeFiles(): Promise<void> {
    if (!this.#dirty.files || this.#files === undefined) return;
    this.#dirty.files = false;
    const wanted = new Map<string, string>();
    for (const workload of this.#policy.data.workloads.values())
      if (workload.host === this.#world.node && workload.isActive && this.#interfaces.isUp(workload.interfaceName))
        wanted.set(statusFileName(workload), statusText(workload));
    try {
      await this.#files.write(wanted);
    } catch (error) {
      // Enforcing policy does not hang on a file; the next tick tries again.
      this.#world.log.warn("Status files of endpoints not written", {
        folder: this.#settings.statusFolder,
        why: messageOf(error),
      });
      this.#files.recheck();
    }
  }

  #report(): void {
    const { health, metrics, log } = this.#world;
    const { inSync, cutOff } = this.#feed;
    const { voids } = this.#policy.data;
    if (inSync) this.#voids.say(voids, log);
    const notUnderstood = this.#voids.detail(voids);
    const refused = [...this.#builder.refused.keys()].map((unit) => this.#builder.titleOf(unit));
    const details = [
      ...(inSync ? [] : ["waiting for the cluster's data"]),
      ...(cutOff === undefined ? [] : [`cut off: ${cutOff}`]),
      ...(refused.length === 0 ? [] : [`the kernel refuses ${refused.join(", ")}`]),
      ...(notUnderstood === undefined ? [] : [notUnderstood]),
    ];
    health.report({ live: true, ready: this.#isStarted && cutOff === undefined, detail: details.join("; ") });
    countPolicy(metrics, this.#policy, this.#builder.ruleset.counts);
  }

  async #followInterfaces(): Promise<void> {
    for await (const what of this.#interfaces.changes()) {
      this.#news[what] += 1;
      if (what === "links") this.#dirty.files = true;
      this.#dirty.interfaces = true;
      this.#bell.ring();
    }
  }

  async #followTable(): Promise<void> {
    while (!this.#signal.aborted) {
      await this.#changes.wait();
      if (this.#signal.aborted) return;
      const seen = this.#guard.glance();
      if (seen === "only ours") {
        // Our own transaction is under way: what there is to read is read when it is over.
        await this.#world.clock.sleep(20, this.#signal);
        continue;
      }
      this.#table = seen;
      this.#bell.ring();
    }
  }

  /** No table, no pod, nobody else's rules: this node has just started. What comes up now stays closed until it is known. */
  async #closeAfterBoot(): Promise<void> {
    const prefixes = this.#settings.interfacePrefixes;
    if (this.#interfaces.names.some((name) => prefixes.some((prefix) => name.startsWith(prefix)))) return;
    if ((await this.#nft.ownTable()) !== undefined) return;
    if (originalTables(this.#nft).length > 0) return;
    await this.#enforcer.apply();
    this.#world.log.info("No pod is on this node yet: those that come are closed until they are known");
  }
}

function filesIn(folder: string | undefined): EndpointFiles | undefined {
  return folder === undefined ? undefined : new EndpointFiles(folder);
}
