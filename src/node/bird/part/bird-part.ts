// The part of the agent that does confd's work: from the bgp data set to BIRD's configuration, and BIRD told to read it.
//
//   feed, services, secrets, endpoint files ─▶ bell ─▶ (quiet for a moment) ─▶ compute ─▶ render ─▶ check ─▶ rename ─▶ "configure"
//                                                       every two seconds  ─▶ look at BIRD ─▶ health
//
// One configuration at a time, all of it, so that BIRD never reads a mix; at most ten a second, however much changes.
import { type Log, messageOf } from "../../../base/lib/index.ts";
import { Bell } from "../../../base/linux/index.ts";
import { routeProtocol } from "../../../calico/routing/index.ts";
import type { FeedState, Part, PartWorld } from "../../part/index.ts";
import { askBird } from "../control-socket.ts";
import { type Look, lookAtBird } from "../daemon/look.ts";
import { versionOfProgram } from "../daemon/programs.ts";
import { findProgram, superviseBird } from "../daemon/supervisor.ts";
import type { BirdVersion } from "../daemon/version.ts";
import { computeBgp } from "../model/compute.ts";
import type { BgpIntent, BgpProblem } from "../model/intent.ts";
import { BgpObjects } from "../model/objects.ts";
import { hasServiceRanges, serviceRanges } from "../model/services.ts";
import { renderBird } from "../render/render.ts";
import { gatherStatus } from "../status/gather.ts";
import { Bridge } from "./bridge.ts";
import { bgpHealth, type ReadinessRule } from "./health.ts";
import type { BirdPartOptions } from "./options.ts";
import { OtherMetrics } from "./other-metrics.ts";
import { Reloader } from "./reload.ts";
import { SecretSource } from "./secrets.ts";
import { ServiceSource } from "./services.ts";
import { WorkloadSource } from "./workloads.ts";

export function birdPart(options: BirdPartOptions): Part {
  return { name: "bird", run: (world, signal) => new BirdRun(options, world, signal).run() };
}

const quiet = { quietMs: 5, mostQuietWaitMs: 100 };
const shortestIntervalMs = 100;
const lookEveryMs = 2_000;

class BirdRun {
  readonly #options: BirdPartOptions;
  readonly #world: PartWorld;
  readonly #signal: AbortSignal;
  readonly #bell: Bell;
  readonly #objects = new BgpObjects();
  readonly #services: ServiceSource;
  readonly #secrets: SecretSource;
  readonly #workloads: WorkloadSource;
  readonly #reloader: Reloader;
  readonly #bridge: Bridge;
  readonly #otherMetrics: OtherMetrics;
  readonly #said = new ProblemLog();
  #feed: FeedState = { inSync: false };
  #isChanged = false;
  #changedAtMs: number | undefined;
  #intent: BgpIntent | undefined;
  #problems: readonly BgpProblem[] = [];
  #version: BirdVersion | undefined;
  #failure: { readonly error: unknown } | undefined;
  #supervising: Promise<void> | undefined;

  constructor(options: BirdPartOptions, world: PartWorld, signal: AbortSignal) {
    this.#options = options;
    this.#world = world;
    this.#signal = signal;
    const { clock, log, datastore } = world;
    this.#bell = new Bell(clock, signal);
    const changed = () => this.#change();
    const failed = (error: unknown) => {
      this.#failure ??= { error };
      this.#bell.ring();
    };
    this.#services = new ServiceSource({ datastore, clock, log, changed, failed });
    this.#secrets = new SecretSource({ datastore, clock, log, changed, namespace: options.namespace });
    this.#workloads = new WorkloadSource({ folder: options.endpointStatusFolder, clock, log, changed, failed });
    this.#reloader = new Reloader(options, world);
    const sockets = { 4: [options.socket], 6: [options.socket6] };
    const ask = (destination: string) => askBird(options.socket, `show route ${destination} all`, { signal });
    this.#otherMetrics = new OtherMetrics({ log, signal, ask });
    this.#bridge = new Bridge({ clock, log, ask: (asking) => gatherStatus(sockets, { routes: true, signal: asking }) });
  }

  async run(): Promise<void> {
    const following = this.#world.feed.follow("bgp", {
      set: (path, value) => {
        if (this.#objects.set(path, value)) this.#isChanged = true;
      },
      delete: (path) => {
        if (this.#objects.delete(path)) this.#isChanged = true;
      },
      settled: (state) => {
        const isFirst = state.inSync && !this.#feed.inSync;
        this.#feed = state;
        if (isFirst || this.#isChanged) this.#change();
      },
    });
    const listening = this.#world.settings.onChange((names) => {
      if (names.includes("DeviceRouteProtocol")) this.#change();
    });
    this.#world.health.report({ ready: false, detail: "waiting for the BGP data to be whole" });
    try {
      this.#version = await this.#askVersion();
      for (let atMs = Number.NEGATIVE_INFINITY; ; ) {
        const isRung = await this.#bell.pausedWithin(lookEveryMs, quiet);
        if (this.#failure !== undefined) throw this.#failure.error;
        if (isRung || this.#isChanged) {
          const sinceMs = this.#world.clock.monotonicMs() - atMs;
          if (sinceMs < shortestIntervalMs) await this.#world.clock.sleep(shortestIntervalMs - sinceMs, this.#signal);
          atMs = this.#world.clock.monotonicMs();
          await this.#apply();
        }
        await this.#look();
      }
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    } finally {
      following[Symbol.dispose]();
      listening[Symbol.dispose]();
      this.#services.stop();
      this.#secrets.stop();
      this.#workloads.stop();
      await this.#otherMetrics[Symbol.asyncDispose]();
      if (this.#signal.aborted) await this.#supervising;
    }
  }

  #change(): void {
    this.#isChanged = true;
    this.#changedAtMs ??= this.#world.clock.monotonicMs();
    if (this.#feed.inSync) this.#bell.ring();
  }

  async #askVersion(): Promise<BirdVersion | undefined> {
    const { socket, program } = this.#options;
    const look = await lookAtBird(socket, this.#signal);
    return look.is === "running" ? look.version : await versionOfProgram(program, this.#signal);
  }

  /** Nothing is written before everything that counts has been read. */
  #compute(): BgpIntent | undefined {
    const { node, settings } = this.#world;
    const { bgp } = this.#options;
    const global = this.#objects.configurations.get("default")?.spec ?? {};
    const needsServices = hasServiceRanges(serviceRanges(global, bgp.advertisedClusterIps));
    if (needsServices) this.#services.start();
    else this.#services.stop();
    const needsWorkloads = [...this.#objects.peers.values()].some(({ spec }) => Boolean(spec.localWorkloadSelector));
    if (needsWorkloads) this.#workloads.start();
    else this.#workloads.stop();
    this.#secrets.begin();
    const { intent, problems } = computeBgp({
      node,
      objects: this.#objects,
      services: this.#services.services,
      slices: this.#services.slices,
      workloads: this.#workloads.workloads,
      settings: {
        ...bgp,
        kubernetesNode: bgp.kubernetesNode ?? node,
        agentProtocol: routeProtocol(Number(settings.raw("DeviceRouteProtocol"))),
        canTunnel: this.#version?.isFork ?? false,
      },
      secret: (reference) => this.#secrets.get(reference),
    });
    this.#secrets.end();
    const isWhole =
      !this.#secrets.isWaiting &&
      (!needsServices || this.#services.isInSync) &&
      (!needsWorkloads || this.#workloads.isInSync);
    if (!isWhole) return undefined;
    this.#problems = problems;
    this.#said.say(problems, this.#world.log);
    return intent;
  }

  async #apply(): Promise<void> {
    this.#isChanged = false;
    const intent = this.#compute();
    if (intent === undefined) return;
    await this.#bridge.build(this.#intent, intent, this.#signal);
    this.#intent = intent;
    const { metrics, clock } = this.#world;
    await this.#reloader.put(renderBird(intent, this.#version?.generation ?? 2), this.#signal);
    metrics.observe(
      "cattail_bird_render_seconds",
      undefined,
      (clock.monotonicMs() - (this.#changedAtMs ?? clock.monotonicMs())) / 1000,
    );
    metrics.set("cattail_bgp_problems", undefined, this.#problems.length);
    this.#changedAtMs = undefined;
    if (this.#options.supervises) this.#supervise();
  }

  /** BIRD is looked at, told again what it has not heard yet, and judged. */
  async #look(): Promise<void> {
    const { health, metrics } = this.#world;
    const intent = this.#intent;
    if (intent === undefined) {
      health.report({ ready: false, detail: this.#whyNothing() });
      return;
    }
    const looks = await this.#looks(intent);
    const [first] = looks;
    if (first?.is === "running" && isOther(first.version, this.#version)) {
      this.#version = first.version;
      this.#change();
    }
    if (looks.every(({ is }) => is === "running")) await this.#reloader.again(this.#signal);
    await this.#bridge.clear(intent, this.#signal);
    if (first?.is === "running" && first.version.generation === 2) await this.#otherMetrics.clear();
    const { behind } = this.#reloader;
    const rule = this.#rule();
    const { ready, detail } = bgpHealth({ intent, looks, behind, rule });
    const worst = this.#worst();
    // A session that is left out is none that BIRD could miss.
    const isWhole = worst.length === 0 || rule === "weak";
    health.report({ ready: ready && isWhole, detail: [detail, ...worst].filter(Boolean).join("; ") });
    const names = new Set(intent.families.flatMap(({ sessions }) => sessions.map(({ name }) => name)));
    const up = looks.flatMap((look) => (look.is === "running" ? look.protocols : []));
    metrics.set("cattail_bgp_sessions", undefined, names.size);
    const established = up.filter(({ name, info }) => names.has(name) && info.startsWith("Established"));
    metrics.set("cattail_bgp_sessions_established", undefined, established.length);
  }

  #rule(): ReadinessRule {
    return this.#world.settings.raw("ReadinessRule")?.toLowerCase() === "original" ? "weak" : "strict";
  }

  async #looks(intent: BgpIntent): Promise<readonly Look[]> {
    const { socket, socket6 } = this.#options;
    if ((this.#version?.generation ?? 2) === 2) return [await lookAtBird(socket, this.#signal)];
    // A family without an address has a file, too, but nobody needs to run it.
    const inUse = intent.families.filter(({ address }) => address !== undefined);
    return Promise.all(inUse.map(({ family }) => lookAtBird(family === 4 ? socket : socket6, this.#signal)));
  }

  #whyNothing(): string {
    const { cutOff, inSync } = this.#feed;
    if (!inSync) return `waiting for the BGP data to be whole${cutOff === undefined ? "" : `: ${cutOff}`}`;
    return this.#worst()[0] ?? "waiting for services, secrets or endpoint files";
  }

  /** Those that keep a session or the configuration from being. */
  #worst(): readonly string[] {
    const worst = this.#problems.filter(({ code }) =>
      ["BGP_NODE_MISSING", "BGP_ROUTER_ID", "BGP_PASSWORD", "BGP_PEER"].includes(code),
    );
    return worst.map(({ about, says }) => `${about}: ${says}`);
  }

  #supervise(): void {
    if (this.#supervising !== undefined) return;
    const { program, program6, path, socket, socket6 } = this.#options;
    const { clock, log, metrics } = this.#world;
    const generation = this.#version?.generation ?? 2;
    const daemons =
      generation === 2
        ? [{ name: program, socket, file: "bird.cfg" as const }]
        : [
            { name: program, socket, file: "bird.cfg" as const },
            { name: program6, socket: socket6, file: "bird6.cfg" as const },
          ];
    const runs = daemons.map(async ({ name, socket: at, file }) => {
      const found = findProgram(name, path);
      if (found === undefined) {
        log.warn("BIRD is not in PATH; it must be started by somebody else", { program: name });
        return;
      }
      const configuration = this.#reloader.folder.file(file);
      const started = () => metrics.add("cattail_bird_starts", undefined, 1);
      await superviseBird({ program: found, configuration, socket: at, generation, clock, log, started }, this.#signal);
    });
    this.#supervising = Promise.all(runs).then(
      () => undefined,
      (error: unknown) => {
        log.error("BIRD can no longer be looked after", { error: messageOf(error) });
        this.#failure ??= { error };
        this.#bell.ring();
      },
    );
  }
}

function isOther(now: BirdVersion, before: BirdVersion | undefined): boolean {
  return now.generation !== (before?.generation ?? 2) || now.isFork !== (before?.isFork ?? false);
}

/** Each problem once, when it comes, and when it goes. */
class ProblemLog {
  #known = new Map<string, BgpProblem>();

  say(problems: readonly BgpProblem[], log: Log): void {
    const now = new Map(problems.map((problem) => [`${problem.code} ${problem.about} ${problem.says}`, problem]));
    for (const [key, { code, about, says }] of now) {
      if (this.#known.has(key)) continue;
      const isError = code === "BGP_PASSWORD" || code === "BGP_ROUTER_ID" || code === "BGP_NODE_MISSING";
      log[isError ? "error" : "warn"]("A problem with BGP", { code, about, says });
    }
    for (const [key, { code, about }] of this.#known)
      if (!now.has(key)) log.info("A problem with BGP is gone", { code, about });
    this.#known = now;
  }
}
