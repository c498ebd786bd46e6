// The health command: the checks that were asked for, side by side, each with its verdict and, for BIRD, its peers. The original's rules and words; with
// `strict` what its rules let pass is named, too.
import { stat } from "node:fs/promises";
import { type Clock, type Family, messageOf } from "../../../base/lib/index.ts";
import { errnoOf } from "../../../base/linux/files.ts";
import type { Peer } from "../../bird/asking.ts";
import type { NodeSettings } from "../settings/table.ts";
import { askHealth } from "./agent.ts";
import { birdAnswers, lookAtBird, socketsOf, speaksIpv6, whyNotReady } from "./bird.ts";
import { servicesRun } from "./services.ts";

export const checkNames = [
  "felix-live",
  "felix-ready",
  "bird-live",
  "bird6-live",
  "bird-ready",
  "bird6-ready",
] as const;
export type CheckName = (typeof checkNames)[number];

export type Checked = {
  readonly check: CheckName;
  readonly ok: boolean;
  /** What is wrong, in one sentence. */
  readonly says?: string;
  readonly peers?: readonly Peer[];
};

export type CheckOptions = {
  readonly settings: Pick<NodeSettings, "healthHost" | "healthPort" | "nodeNameFile">;
  readonly thresholdMs: number;
  readonly strict?: { readonly graceMs: number };
  /** BIRD_CTL, BIRD6_CTL: where the environment says that the sockets are. */
  readonly sockets?: { readonly [family in Family]?: string | undefined };
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

const leastMs = 1000;

export async function checkHealth(names: readonly CheckName[], options: CheckOptions): Promise<readonly Checked[]> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(Math.max(leastMs, options.thresholdMs))]);
  return await Promise.all(names.map((check) => checkOne(check, { ...options, signal })));
}

/** One line; undefined: all is well. */
export function healthSentence(checked: readonly Checked[]): string | undefined {
  const bad = checked.filter(({ ok }) => !ok).map(({ says = "" }) => says);
  return bad.length === 0 ? undefined : `calico/node is not ready: ${bad.join("; ")}`;
}

export const nothingAsked =
  "calico/node check error: must specify at least one of -bird-live, -bird6-live, -felix-live, -bird, -bird6, or -felix";

async function checkOne(check: CheckName, options: CheckOptions): Promise<Checked> {
  switch (check) {
    case "felix-live":
      return await felix(check, "Felix is not live", options);
    case "felix-ready":
      return await felix(check, "felix is not ready", options);
    case "bird-live":
      return await birdLive(check, 4, options);
    case "bird6-live":
      return await birdLive(check, 6, options);
    case "bird-ready":
      return await birdReady(check, 4, options);
    case "bird6-ready":
      return await birdReady(check, 6, options);
  }
}

type Sockets = NonNullable<CheckOptions["sockets"]>;

function placesOf(family: Family, named: Sockets = {}) {
  const sockets = socketsOf(family, named[family]);
  return family === 4 ? { sockets } : { sockets, socketsOfBoth: socketsOf(4, named[4]) };
}

/** Whether sessions of IPv6 are to be waited for, beside those of IPv4. */
export async function hasBirdOfIpv6(named: Sockets, signal: AbortSignal): Promise<boolean> {
  return await speaksIpv6({ ...placesOf(6, named), signal });
}

async function felix(check: CheckName, says: string, { settings, signal }: CheckOptions): Promise<Checked> {
  const probe = check === "felix-live" ? "liveness" : "readiness";
  try {
    await askHealth({ host: settings.healthHost, port: settings.healthPort }, probe, signal);
    return { check, ok: true };
  } catch (error) {
    return { check, ok: false, says: `${says}: ${messageOf(error)}` };
  }
}

async function birdLive(check: CheckName, family: Family, options: CheckOptions): Promise<Checked> {
  const name = family === 4 ? "bird" : "bird6";
  try {
    await servicesRun(["confd", name], options.signal);
    await birdAnswers({ family, ...placesOf(family, options.sockets), signal: options.signal });
    return { check, ok: true };
  } catch (error) {
    return { check, ok: false, says: `${name}/confd is not live: ${messageOf(error)}` };
  }
}

async function birdReady(check: CheckName, family: Family, options: CheckOptions): Promise<Checked> {
  const { settings, clock, thresholdMs, strict, signal } = options;
  const name = family === 4 ? "BIRD" : "BIRD6";
  try {
    const ageMs = clock.wallMs() - (await writtenMs(settings.nodeNameFile));
    const state = await lookAtBird({ family, ...placesOf(family, options.sockets), signal });
    const why = await whyNotReady(state, {
      ageMs,
      thresholdMs,
      ...(strict === undefined ? {} : { strict: { ...strict, clock } }),
    });
    const { peers } = state;
    if (why === undefined) return { check, ok: true, peers };
    return { check, ok: false, says: `${name} is not ready: ${why}`, peers };
  } catch (error) {
    return { check, ok: false, says: `${name} is not ready: ${messageOf(error)}` };
  }
}

async function writtenMs(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    const why = errnoOf(error) === "ENOENT" ? `stat ${file}: no such file or directory` : messageOf(error);
    throw new Error(`failed to stat() nodename file: ${why}`, { cause: error });
  }
}
