// Whether BGP does what it shall, in one sentence: every session that is wanted and not up is named.
import type { Look } from "../daemon/look.ts";
import type { BgpIntent } from "../model/intent.ts";

/**
 * strict: every session is up, and BIRD has stopped waiting for its peers. weak: as the original after its first thirty seconds: one session
 * that is up is enough, and nobody asks what BIRD waits for.
 */
export type ReadinessRule = "strict" | "weak";

export type BgpHealth = { readonly ready: boolean; readonly detail: string };

export type HealthInput = {
  readonly intent: BgpIntent;
  /** One for BIRD 2; for 1.6 one for each family that is in use. */
  readonly looks: readonly Look[];
  /** Why the configuration that BIRD has is not the one that it should have. */
  readonly behind: string | undefined;
  readonly rule: ReadinessRule;
};

export function bgpHealth({ intent, looks, behind, rule }: HealthInput): BgpHealth {
  const absent = looks.flatMap((look) => (look.is === "absent" ? [look.why] : []));
  if (absent.length > 0) return { ready: false, detail: absent.join("; ") };
  if (behind !== undefined) return { ready: false, detail: behind };
  const protocols = looks.flatMap((look) => (look.is === "running" ? look.protocols : []));
  const up = new Set(protocols.filter(({ info }) => info.startsWith("Established")).map(({ name }) => name));
  const sessions = intent.families.flatMap((family) => family.sessions);
  // Without their states, which change every few seconds: `node status` has them.
  const down = sessions.filter(({ name }) => !up.has(name)).map(({ address }) => address);
  const problems = [
    ...(down.length > 0 ? [`BGP not established with ${down.join(",")}`] : []),
    ...(looks.some((look) => look.is === "running" && look.isWaiting) ? ["graceful restart in progress"] : []),
  ];
  const isEnough = rule === "weak" && (sessions.length === 0 || down.length < sessions.length);
  return { ready: problems.length === 0 || isEnough, detail: problems.join("; ") };
}
