// What the original's plugin answered and stored, case by case (test/vectors/ipam/cases.json), played through the steps: ADD and DEL
// without the program around them. Names, labels and annotations of the stored objects are the business of calico/resources.
import { deepEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { IpamStore } from "../../../../test/kit/ipam-store.ts";
import { isRecord, type JsonRecord, parseRange, rangeText } from "../../../base/lib/index.ts";
import { ipamBlockSpec } from "../../kinds/index.ts";
import { type Labels, readSchema } from "../../model/index.ts";
import { affinitySpec, readAffinity } from "../affinity.ts";
import { type Block, blockSpec, cidrOf, readBlock } from "../block.ts";
import { handleSpec, readHandle } from "../handle.ts";
import { readPool } from "../pools.ts";
import { readReservations } from "../reservations.ts";
import { assignAddress } from "./assign-named.ts";
import { type AssignRequest, autoAssign } from "./auto-assign.ts";
import { releaseHandle, releaseUnselected } from "./release-by-handle.ts";
import type { Stored } from "./step.ts";

type Meta = { name: string; labels?: Labels; annotations?: Labels };
type CaseObject = { kind: string; metadata: Meta; spec: JsonRecord };
type Call = {
  node: string;
  container: string;
  pod?: string;
  args?: string;
  count?: number;
  from?: number;
  conf?: { ipam?: { ipv4_pools?: string[]; ipv6_pools?: string[]; assign_ipv4?: string; assign_ipv6?: string } };
};
type CaseStep = {
  add?: Call;
  del?: Call;
  fill?: Call;
  dump?: object;
  sleep?: number;
  apply?: CaseObject;
  edit?: { kubernetes: { change: { spec: { affinityClaimTime: string } } } };
};
type Case = {
  name: string;
  about: string;
  objects: CaseObject[];
  steps: CaseStep[];
  expect: { steps: unknown[]; store: { [name: string]: JsonRecord } };
};
const cases: Case[] = JSON.parse(readFileSync("test/vectors/ipam/cases.json", "utf8"));

test("the cases were found", () => deepEqual(cases.length, 64));

for (const each of cases) {
  test(`${each.name}: ${each.about}`, () => {
    const world = new World(each.objects);
    const answers = each.steps.flatMap((step) => world.play(step));
    deepEqual(answers, each.expect.steps.map(asExpected));
    deepEqual(world.dump(), expectedStore(each.expect.store, each.name));
  });
}

class World {
  readonly store = new IpamStore();
  readonly objects = new Map<string, CaseObject>();

  constructor(objects: readonly CaseObject[]) {
    for (const object of objects) this.apply(object);
  }

  apply(object: CaseObject): void {
    const stored = toStored(object);
    if (stored === undefined) this.objects.set(`${object.kind}/${object.metadata.name}`, object);
    else this.store.put(stored);
  }

  /** A list of one answer, or of none for what an operator does. */
  play({ add, del, fill, dump, sleep = 0, apply, edit }: CaseStep): unknown[] {
    this.store.nowNs += BigInt(Math.round(sleep * 1000)) * 1_000_000n;
    if (apply !== undefined) this.apply(apply);
    if (edit !== undefined) this.#setClaimTimes(edit.kubernetes.change.spec.affinityClaimTime);
    if (add !== undefined) return [this.#add(add)];
    if (del !== undefined) return [this.#del(del)];
    if (dump !== undefined) return [{ store: this.dump() }];
    if (fill === undefined) return [];
    const numbered = Array.from({ length: fill.count ?? 0 }, (_, at) => String((fill.from ?? 0) + at));
    return [
      numbered.flatMap((number) => {
        const pod = fill.pod?.replace("%d", number) ?? "";
        const result = this.#add({ ...fill, container: fill.container.replace("%d", number), pod });
        return Array.isArray(result) ? result : [result];
      }),
    ];
  }

  #add({ node, container, pod, conf, args }: Call): unknown {
    const family = conf?.ipam?.assign_ipv6 === "true" ? 6 : 4;
    const [namespace = "", name = ""] = (pod ?? "").split("/");
    const secondary = {
      node,
      timestamp: String(this.store.nowNs),
      ...(pod === undefined ? {} : { pod: name, namespace }),
    };
    const wrong6 = conf?.ipam?.ipv6_pools !== undefined;
    const request: AssignRequest = {
      owner: { type: "host", name: node },
      family: wrong6 ? 6 : family,
      count: 1,
      use: "Workload",
      handle: `k8s-pod-network.${container}`,
      secondary,
      requestedPools: conf?.ipam?.ipv4_pools ?? conf?.ipam?.ipv6_pools ?? [],
      nodeLabels: this.#nodeLabels(node),
      namespaceLabels: this.objects.get(`Namespace/${namespace}`)?.metadata.labels ?? {},
      ...this.#settings(),
      reservations: readReservations(this.#all("IPReservation").map(({ spec }) => spec)),
      maxBlocks: 0,
      randomSeed: 1n,
    };
    const address = parseRange(args?.replace(/^IP=/, "") ?? "");
    if (address !== undefined) {
      const named = this.store.run(assignAddress({ ...request, address }));
      return named.is === "refused" ? { msg: named.says } : [rangeText(named.address)];
    }
    const done = this.store.run(autoAssign(request));
    if (done.is === "refused") return { msg: done.says };
    if (done.addresses.length === 1) {
      return done.addresses.map(({ address, block }) =>
        rangeText({ ...address, prefixLength: block.prefixLength }).trim(),
      );
    }
    const what = `IPv${request.family} addresses`;
    return { msg: [`failed to request ${what}: Assigned 0 out of 1 requested ${what}`, ...done.notes].join("; ") };
  }

  #del({ container }: Call): null {
    const { pools, settings } = this.#settings();
    const { cooldownSeconds } = settings;
    const { blocks } = this.store.run(releaseHandle({ id: `k8s-pod-network.${container}`, cooldownSeconds }));
    const names = this.#all("Node").map(({ metadata }) => metadata.name);
    const nodeLabels = new Map(names.map((name) => [name, this.#nodeLabels(name)]));
    this.store.run(releaseUnselected(blocks, { pools, nodeLabels, cooldownSeconds }));
    return null;
  }

  #settings() {
    const spec = this.objects.get("IPAMConfig/default")?.spec;
    const pools = this.#all("IPPool").flatMap(({ metadata, spec }) => readPool({ name: metadata.name, spec }) ?? []);
    return {
      pools,
      settings: {
        strictAffinity: spec?.strictAffinity === true,
        autoAllocateBlocks: spec === undefined || spec.autoAllocateBlocks === true,
        maxBlocksPerHost: Number(spec?.maxBlocksPerHost ?? 0),
        cooldownSeconds: Number(spec?.ipCooldownSeconds ?? 0),
      },
    };
  }

  #nodeLabels(name: string): Labels {
    const { labels = {}, annotations = {} } = this.objects.get(`Node/${name}`)?.metadata ?? {};
    return { ...JSON.parse(annotations["projectcalico.org/labels"] ?? "{}"), ...labels };
  }

  #all(kind: string): CaseObject[] {
    return [...this.objects.values()].filter((object) => object.kind === kind);
  }

  #setClaimTimes(claimTime: string): void {
    for (const object of this.store.objects()) {
      if (object.kind === "block") this.store.put({ kind: "block", value: { ...object.value, claimTime } });
    }
  }

  dump() {
    return Object.fromEntries(
      this.store
        .objects()
        .map((object) => dumped(object))
        .sort(),
    );
  }
}

function toStored({ kind, spec }: CaseObject): Stored | undefined {
  if (kind === "IPAMHandle") return { kind: "handle", value: readHandle(spec) };
  if (kind === "BlockAffinity")
    return { kind: "affinity", value: readAffinity({ ...spec, deleted: spec.deleted === "true" }) };
  if (kind !== "IPAMBlock") return undefined;
  const read = readBlock(readSchema(ipamBlockSpec, spec, "spec"));
  if (read.is === "invalid") throw new Error(read.why);
  return { kind: "block", value: read.block };
}

const name = (cidr: string) => cidr.replace(/[.:/]/g, "-");

function dumped(object: Stored): [string, unknown] {
  switch (object.kind) {
    case "handle":
      return [`IPAMHandle/${object.value.id.toLowerCase()}`, handleSpec(object.value)];
    case "affinity": {
      const { owner, cidr } = object.value;
      const spec = affinitySpec(object.value);
      return [`BlockAffinity/${owner.name}-${name(cidr)}`, { ...spec, deleted: String(spec.deleted) }];
    }
    case "block":
      return [`IPAMBlock/${name(cidrOf(object.value))}`, dumpedBlock(object.value)];
  }
}

/** As the recordings have it: numbers of the run relative, its times as $NOW. */
function dumpedBlock(block: Block): JsonRecord {
  const isOfRun = block.sequenceNumber > 1_000_000_000n;
  const shown = (number: bigint) => {
    if (!isOfRun) return Number(number);
    return number === block.sequenceNumber ? "$S" : `$S-${block.sequenceNumber - number}`;
  };
  const spec = JSON.parse(ipamBlockSpec.go.write({ ...blockSpec(block), sequenceNumber: 0 }));
  const { affinityClaimTime: time } = spec;
  return {
    ...spec,
    ...(time === undefined ? {} : { affinityClaimTime: time > "2026-11" ? "$NOW" : time }),
    attributes: spec.attributes.map((each: JsonRecord) => withoutTime(each)),
    allocations: Object.fromEntries([
      ...block.allocations.flatMap((index, ordinal) => (index === null ? [] : [[String(ordinal), index]])),
      ["length", block.allocations.length],
    ]),
    sequenceNumber: shown(block.sequenceNumber),
    sequenceNumberForAllocation: Object.fromEntries(
      [...block.sequenceNumbers].map(([ordinal, number]) => [String(ordinal), shown(number)]),
    ),
  };
}

function withoutTime({ releasedAt, secondary, ...rest }: JsonRecord): JsonRecord {
  if (releasedAt !== undefined) return { releasedAt: "$NOW" };
  const isOfRun = isRecord(secondary) && /^[0-9]+$/.test(String(secondary.timestamp));
  return { ...rest, secondary: isOfRun ? { ...secondary, timestamp: "$NOW" } : secondary };
}

function asExpected(answer: unknown): unknown {
  if (!isRecord(answer) || !isRecord(answer.store)) return answer;
  return { store: expectedStore(answer.store as { [name: string]: JsonRecord }) }; // our own vectors
}

/** Better on purpose: affinities marked as deleted, and handles that count too much, do not stay for ever. */
function expectedStore(store: { readonly [name: string]: JsonRecord }, name = "") {
  const live = Object.entries(store).filter(([key, spec]) => {
    if (name === "handle-too-high" && key.startsWith("IPAMHandle/")) return false;
    return !key.startsWith("BlockAffinity/") || spec.deleted !== "true";
  });
  return Object.fromEntries(
    live.map(([key, spec]) => {
      if (key.startsWith("BlockAffinity/")) return [key, { type: "host", ...spec }];
      if (!key.startsWith("IPAMBlock/")) return [key, spec];
      const numbers = spec.sequenceNumberForAllocation ?? {};
      return [key, { ...spec, unallocated: ordinals(String(spec.unallocated)), sequenceNumberForAllocation: numbers }];
    }),
  );
}

/** "4-63 1 0" */
function ordinals(text: string): number[] {
  return text.split(" ").flatMap((run) => {
    if (run === "") return [];
    const [from = 0, to = from] = run.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}
