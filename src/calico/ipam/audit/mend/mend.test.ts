// Each finding is mended, and an audit finds nothing then; and where the world has changed since the audit, nothing is written.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { IpamStore } from "../../../../../test/kit/ipam-store.ts";
import { parseRange } from "../../../../base/lib/index.ts";
import type { Affinity } from "../../affinity.ts";
import type { Attribute, Block } from "../../block.ts";
import { forWrite, newBlock } from "../../block-changes.ts";
import type { Handle } from "../../handle.ts";
import { readPool } from "../../pools.ts";
import type { Answer } from "../../steps/step.ts";
import { audit } from "../audit.ts";
import type { Finding, FindingCode } from "../finding.ts";
import type { Audited } from "../stored.ts";
import type { AddressUse } from "../uses.ts";
import { mendFindings } from "./mend.ts";
import type { MendAnswer, MendStep } from "./mend-step.ts";
import type { Mended } from "./mended.ts";

const pools = [{ name: "p", spec: { cidr: "10.65.0.0/16", blockSize: 30 } }].flatMap((pool) => readPool(pool) ?? []);
const cidr = "10.65.1.0/30";
const owner = { type: "host", name: "n1" } as const;

/** The block of n1 with pod a's address, all of it as it should be. */
class World {
  readonly store = new IpamStore();
  readonly nodes = new Set(["n1", "n2"]);
  uses: AddressUse[] = [used("10.65.1.1", "a")];
  starting: { namespace: string; pod: string }[] = [];
  isSilent = false;
  block: Block = sound(this.store.nowNs);
  affinity: Affinity = { owner, cidr, state: "confirmed", isDeleted: false };
  handle: Handle = { id: "k8s.a", blocks: new Map([[cidr, 1]]), isDeleted: false };

  put(): void {
    this.store.put({ kind: "block", value: this.block });
    this.store.put({ kind: "affinity", value: this.affinity });
    this.store.put({ kind: "handle", value: this.handle });
  }

  findings(): readonly Finding[] {
    const entries = [...this.store.entries.values()];
    const audited: Audited = {
      blocks: entries.flatMap(({ object, revision }) =>
        object.kind === "block" ? [{ value: object.value, revision }] : [],
      ),
      affinities: entries.flatMap(({ object, revision }) =>
        object.kind === "affinity" ? [{ value: object.value, revision }] : [],
      ),
      handles: entries.flatMap(({ object, revision }) =>
        object.kind === "handle" ? [{ value: object.value, revision }] : [],
      ),
      unreadable: [],
      pools,
      uses: this.uses,
      starting: this.starting,
      nodes: [...this.nodes],
      nowNs: this.store.nowNs,
    };
    return audit(audited).findings;
  }

  /** `meanwhile` happens after the audit, before the first step. */
  mend(findings: readonly Finding[], meanwhile: () => void = () => undefined): Mended[] {
    const steps = mendFindings(findings, { pools, cooldownSeconds: 0 });
    let next = steps.next();
    meanwhile();
    while (!next.done) next = steps.next(this.answer(next.value));
    return next.value.map(({ outcome }) => outcome);
  }

  answer(step: MendStep): MendAnswer {
    if (step.do !== "ask who uses" && step.do !== "ask for node") return this.store.answer(step);
    if (this.isSilent) return { is: "failed", error: "timeout", wasWritten: "no" } satisfies Answer;
    if (step.do === "ask for node") return { is: "existence", exists: this.nodes.has(step.node) };
    const { heldFor, address } = step;
    const isStarting = heldFor.is === "pod" && this.starting.some(({ pod }) => pod === heldFor.pod);
    return { is: "users", users: this.uses.filter((use) => use.address === address), isStarting };
  }
}

function used(address: string, pod: string): AddressUse {
  return { address, user: { is: "workload", namespace: "default", name: `n1-k8s-${pod}-eth0`, node: "n1", pod } };
}

const podOf = (pod: string): Attribute => ({
  handle_id: `k8s.${pod}`,
  secondary: { node: "n1", namespace: "default", pod },
});

function sound(nowNs: bigint): Block {
  const range = parseRange(cidr);
  ok(range !== undefined);
  return {
    ...newBlock({ range, owner: "host:n1", nowNs }),
    allocations: [null, 0, null, null],
    unallocated: [0, 2, 3],
    attributes: [podOf("a")],
    sequenceNumbers: new Map([[1, nowNs]]),
  };
}

type Case = {
  readonly name: string;
  readonly breaks: (world: World) => void;
  readonly finds: FindingCode;
  /** What another does between audit and mending, so that mending must do nothing. */
  readonly meanwhile?: (world: World) => void;
};

const touchHandle = ({ store, handle }: World): void => {
  store.put({ kind: "handle", value: handle });
};

const cases: Case[] = [
  {
    name: "a leaked address",
    breaks: (world) => (world.uses = []),
    finds: "ADDRESS_LEAKED",
    meanwhile: (world) => (world.uses = [used("10.65.1.1", "a")]),
  },
  {
    name: "a leaked address whose pod starts again",
    breaks: (world) => (world.uses = []),
    finds: "ADDRESS_LEAKED",
    meanwhile: (world) => (world.starting = [{ namespace: "default", pod: "a" }]),
  },
  {
    name: "a leaked address that was given to another since",
    breaks: (world) => (world.uses = []),
    finds: "ADDRESS_LEAKED",
    meanwhile: ({ store, block }) =>
      store.put({ kind: "block", value: { ...block, attributes: [podOf("b")], sequenceNumbers: new Map([[1, 7n]]) } }),
  },
  {
    name: "a leaked address of which nobody can say whether it is used",
    breaks: (world) => (world.uses = []),
    finds: "ADDRESS_LEAKED",
    meanwhile: (world) => (world.isSilent = true),
  },
  {
    name: "a handle that counts too much",
    breaks: (world) =>
      (world.handle = {
        ...world.handle,
        blocks: new Map([
          [cidr, 3],
          ["10.65.9.0/30", 1],
        ]),
      }),
    finds: "HANDLE_COUNTS_TOO_MUCH",
    meanwhile: touchHandle,
  },
  {
    name: "a handle that counts too little",
    breaks: (world) => (world.handle = { ...world.handle, blocks: new Map() }),
    finds: "HANDLE_MISSING",
    meanwhile: touchHandle,
  },
  {
    name: "an ordinal that is neither allocated nor free",
    breaks: (world) => (world.block = { ...world.block, unallocated: [0, 3] }),
    finds: "BLOCK_BROKEN",
    meanwhile: ({ store, block }) => store.put({ kind: "block", value: forWrite(block) }),
  },
  {
    name: "a lost allocation, whose address is used",
    breaks: (world) => (world.block = { ...world.block, unallocated: [0, 3] }),
    finds: "BLOCK_BROKEN",
    meanwhile: (world) => world.uses.push(used("10.65.1.2", "b")),
  },
  {
    name: "a claim that is half made",
    breaks: (world) => (world.affinity = { ...world.affinity, state: "pending" }),
    finds: "CLAIM_UNFINISHED",
    meanwhile: ({ store, block }) => store.put({ kind: "block", value: { ...block, owner: "host:n2" } }),
  },
  {
    name: "a mark of deletion on an affinity",
    breaks: ({ store }) =>
      store.put({
        kind: "affinity",
        value: { owner: { type: "host", name: "n2" }, cidr, state: "confirmed", isDeleted: true },
      }),
    finds: "DELETION_UNFINISHED",
  },
  {
    name: "an affinity to another's block",
    breaks: ({ store }) =>
      store.put({
        kind: "affinity",
        value: { owner: { type: "host", name: "n2" }, cidr, state: "confirmed", isDeleted: false },
      }),
    finds: "AFFINITY_STALE",
    meanwhile: ({ store, block }) => store.put({ kind: "block", value: { ...block, owner: "host:n2" } }),
  },
  {
    name: "an affinity without a block",
    breaks: ({ store }) =>
      store.put({ kind: "affinity", value: { owner, cidr: "10.65.2.0/30", state: "pending", isDeleted: false } }),
    finds: "AFFINITY_WITHOUT_BLOCK",
    meanwhile: ({ store }) =>
      store.put({ kind: "affinity", value: { owner, cidr: "10.65.2.0/30", state: "pending", isDeleted: false } }),
  },
  {
    name: "a block of a node that is gone, in which another has an address",
    breaks: (world) => world.nodes.delete("n1"),
    finds: "NODE_GONE",
    meanwhile: (world) => world.nodes.add("n1"),
  },
];

for (const { name, breaks, finds, meanwhile } of cases) {
  test(`mended: ${name}`, () => {
    const world = new World();
    breaks(world);
    world.put();
    const findings = world.findings();
    deepEqual(
      findings.map(({ code }) => code),
      [finds],
    );
    deepEqual(world.mend(findings), [{ is: "mended" }]);
    deepEqual(world.findings(), []);
  });
  if (meanwhile === undefined) continue;
  test(`left alone, because it has changed: ${name}`, () => {
    const world = new World();
    breaks(world);
    world.put();
    const findings = world.findings();
    let before = "";
    const [outcome] = world.mend(findings, () => {
      meanwhile(world);
      before = stored(world);
    });
    ok(outcome?.is !== "mended", `${outcome?.is}`);
    equal(stored(world), before);
  });
}

function stored({ store }: World): string {
  return JSON.stringify(store.objects(), (_, value: unknown) => {
    if (typeof value === "bigint") return String(value);
    return value instanceof Map ? [...value].map(([key, each]) => [key, String(each)]) : value;
  });
}
