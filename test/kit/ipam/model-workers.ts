// Who works on the model: containers that come and go, operators who give claims back, and the mender. Each is a generator of steps;
// between two steps nobody else does anything, so everything that could interleave has a step of its own.
import { type AddressRange, addressText } from "../../../src/base/lib/index.ts";
import {
  type AssignedAddress,
  assignAddress,
  audit,
  autoAssign,
  type IpamSettings,
  isRipe,
  type MendAnswer,
  type MendStep,
  mendFindings,
  type PatienceLimits,
  releaseClaim,
  releaseHandle,
  releaseIps,
  remember,
  StepFailed,
  type Steps,
  TooManyConflicts,
  usualPatience,
  within,
} from "../../../src/calico/ipam/index.ts";
import type { ModelWorld } from "./model-world.ts";

/** A moment in which others may work; or a time in which the worker does not. `begins`: its time for one request starts here. */
export type Pause = { readonly do: "pause"; readonly waitMs: number; readonly begins: boolean };
export type Work = Generator<MendStep | Pause, void, MendAnswer | undefined>;

export function pause(waitMs = 0): Pause {
  return { do: "pause", waitMs, begins: false };
}

const begin: Pause = { do: "pause", waitMs: 0, begins: true };

export type Life = {
  readonly pod: string;
  readonly node: string;
  readonly startsAfterMs: number;
  readonly settings: IpamSettings;
  readonly count: number;
  /** Undefined: whatever there is. */
  readonly named: AddressRange | undefined;
  /** A container that fails is followed by a second one of the same pod. */
  readonly containers: number;
  readonly end: "stays" | "by handle" | "by address" | "object first";
};

/** A pod from its first container to its last: ADD until one has addresses, and DEL, tried again as a kubelet does. */
export function* life(world: ModelWorld, plan: Life): Work {
  yield pause(plan.startsAfterMs);
  world.join(plan.node);
  world.pods.set(plan.pod, { node: plan.node, addresses: undefined });
  let held: readonly AssignedAddress[] | undefined;
  let handle = "";
  for (let container = 1; container <= plan.containers && held === undefined; container += 1) {
    handle = `net.${plan.pod}-${container}`;
    yield begin;
    held = yield* attempt(add(world, plan, handle));
    if (held === undefined) yield* give(world, plan, handle, "by handle");
  }
  if (held === undefined) {
    world.pods.delete(plan.pod);
    return;
  }
  world.give(handle, held);
  yield pause();
  const addresses = held.map(({ address }) => addressText(address.family, address.first));
  world.pods.set(plan.pod, { node: plan.node, addresses });
  if (plan.end === "stays") return;
  yield pause();
  if (plan.end === "object first") world.pods.delete(plan.pod);
  yield* give(world, plan, handle, plan.end, held);
  world.pods.delete(plan.pod);
}

function* add(world: ModelWorld, plan: Life, handle: string): Steps<readonly AssignedAddress[] | undefined> {
  const { node, settings, pod, named, count } = plan;
  const timestamp = `${new Date(Number(world.store.nowNs / 1_000_000n)).toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`;
  const common = {
    owner: { type: "host", name: node },
    use: "Workload",
    handle,
    secondary: { node, namespace: "default", pod, timestamp },
    pools: world.pools,
    settings,
  } as const;
  if (named !== undefined) {
    const done = yield* assignAddress({ ...common, address: named });
    return done.is === "assigned" ? [done] : undefined;
  }
  const asked = {
    family: 4,
    count,
    requestedPools: [],
    nodeLabels: {},
    namespaceLabels: {},
    reservations: [],
  } as const;
  const done = yield* autoAssign({ ...common, ...asked, maxBlocks: 0, randomSeed: 1n });
  return done.addresses.length === 0 ? undefined : done.addresses;
}

function* give(
  world: ModelWorld,
  plan: Life,
  handle: string,
  how: Life["end"],
  held: readonly AssignedAddress[] = [],
): Work {
  yield begin;
  world.takeBack(handle);
  const { pools } = world;
  const { cooldownSeconds } = plan.settings;
  for (let turn = 0; turn < 3; turn += 1) {
    const requests = held.map(({ address }) => ({ address, handle }));
    const isDone =
      how === "by address"
        ? yield* attempt(releaseIps(requests, { pools, cooldownSeconds }))
        : yield* attempt(releaseHandle({ id: handle, cooldownSeconds }));
    if (isDone !== undefined) return;
    yield begin;
  }
}

/** Undefined: the datastore failed, or others were faster too often. */
function* attempt<T>(steps: Steps<T>): Generator<MendStep | Pause, T | undefined, MendAnswer | undefined> {
  try {
    return yield* working(within(steps));
  } catch (error) {
    if (error instanceof StepFailed || error instanceof TooManyConflicts) return undefined;
    throw error;
  }
}

function* working<T>(
  steps: Generator<MendStep, T, MendAnswer>,
): Generator<MendStep | Pause, T, MendAnswer | undefined> {
  let next = steps.next();
  while (!next.done) {
    const answer = yield next.value;
    if (answer === undefined) throw new Error("a step without an answer");
    next = steps.next(answer);
  }
  return next.value;
}

/** An operator, or a node that leaves: claims are given back, if nothing is held there. */
export function* giveClaimBack(node: string, range: AddressRange, cooldownSeconds: number): Work {
  yield begin;
  yield* attempt(releaseClaim({ owner: { type: "host", name: node }, range, mustBeEmpty: true, cooldownSeconds }));
}

/** A node is deleted; one that has pods comes back. */
export function* leave(world: ModelWorld, node: string): Work {
  yield pause(150_000);
  world.nodes.delete(node);
}

export type MenderCount = { mended: number; changed: number; left: number; failed: number };

/** Looks, waits, looks again and mends what is ripe, so many times. What it reads it reads bit by bit. */
export function* mender(
  world: ModelWorld,
  options: { readonly rounds: number; readonly cooldownSeconds: number; readonly count: MenderCount },
  patience: PatienceLimits = usualPatience,
): Work {
  let memory = new Map<string, bigint>() as ReadonlyMap<string, bigint>;
  for (let round = 0; round < options.rounds; round += 1) {
    const findings = yield* look(world);
    const { nowNs } = world.store;
    memory = remember(memory, findings, nowNs);
    const ripe = findings.filter((finding) => isRipe(finding, { memory, nowNs, patience }));
    const results = yield* working(
      mendFindings(ripe, { pools: world.pools, cooldownSeconds: options.cooldownSeconds }),
    );
    for (const { outcome } of results) options.count[outcome.is] += 1;
    yield pause(round % 2 === 0 ? patience.unfinishedMs : patience.leakMs);
  }
}

function* look(world: ModelWorld) {
  yield pause();
  const handles = world.store.handles();
  yield pause();
  const blocks = world.store.blocks();
  yield pause();
  const affinities = world.store.affinities();
  yield pause();
  const { findings } = audit({ ...world.audited(), handles, blocks, affinities });
  return findings;
}
