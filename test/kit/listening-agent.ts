// The agent of a node in this process, around one part that only listens: what the cluster's state looks like from there.
import type { TestContext } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMetrics } from "../../src/base/observe/index.ts";
import { agentMetrics, runAgent } from "../../src/node/agent/index.ts";
import type { FeedState, Part, PartWorld } from "../../src/node/part/index.ts";
import { felixSettings, NodeLiveSettings, readLocalSources } from "../../src/node/settings/index.ts";
import { afterTest } from "./after-test.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

/** A part that keeps what it is told, and can be made to fail. */
export class Listening implements Part {
  readonly name = "listening";
  readonly keys = new Map<string, string>();
  state: FeedState = { inSync: false };
  starts = 0;
  world: PartWorld | undefined;
  #fail: (error: Error) => void = () => undefined;

  async run(world: PartWorld, signal: AbortSignal): Promise<void> {
    this.starts += 1;
    this.world = world;
    this.keys.clear();
    const failed = Promise.withResolvers<void>();
    this.#fail = failed.reject;
    signal.addEventListener("abort", () => failed.resolve(), { once: true });
    world.feed.follow("felix", {
      set: (path, value) => void this.keys.set(path, value),
      delete: (path) => void this.keys.delete(path),
      settled: (state) => {
        this.state = state;
        world.health.report({ ready: state.inSync });
      },
    });
    await failed.promise;
  }

  fail(): void {
    this.#fail(new Error("as the test says"));
  }
}

export async function startListeningAgent(t: TestContext, environment: { readonly [name: string]: string }) {
  const port = await freePort();
  const health = { FELIX_HEALTHENABLED: "true", FELIX_HEALTHHOST: "127.0.0.1", FELIX_HEALTHPORT: `${port}` };
  const env = { ...environment, ...health };
  const settings = new NodeLiveSettings(readLocalSources({ environment: env, configFile: "" }), {
    checks: { exists: () => true },
    log: silentLog,
  });
  const metrics = createMetrics({
    table: agentMetrics,
    labels: { host: ["n1"], part: ["listening"], ip_version: ["4", "6"] },
    clock: systemClock,
    includesProcess: false,
    includesRuntime: false,
  });
  const part = new Listening();
  const stop = new AbortController();
  const running = runAgent(
    {
      ...{ node: "n1", parts: [part], environment: env, settings, metrics, version: "test", followsSettings: true },
      ...{ clock: systemClock, random: Math.random, logOf: () => silentLog },
    },
    stop.signal,
  );
  afterTest(t).defer(async () => {
    stop.abort();
    await running;
  });
  const readiness = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readiness`).catch(() => undefined);
    return { isReady: response?.status === 200, text: (await response?.text()) ?? "" };
  };
  const ready = (what: string) => eventually(async () => (await readiness()).isReady, `ready: ${what}`);
  return { part, settings: felixSettings(settings), metrics, readiness, ready };
}
