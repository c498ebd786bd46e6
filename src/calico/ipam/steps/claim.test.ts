// Claims: what each combination of affinity and block leads to, in which order it is written, and who wins a race.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { IpamStore } from "../../../../test/kit/ipam-store.ts";
import { type AddressRange, parseRange } from "../../../base/lib/index.ts";
import { type Affinity, type AffinityState, affinitySpec, readAffinity } from "../affinity.ts";
import type { Block } from "../block.ts";
import { assign, forWrite, newBlock, withoutOwner } from "../block-changes.ts";
import { type Claimed, type ClaimReleased, claimBlock, type ReleaseOfClaim, releaseClaim } from "./claim.ts";
import { getAffinity, type Step, type Steps } from "./step.ts";

const cidr = "10.9.0.0/30";
const n1 = { type: "host", name: "n1" } as const;
const range: AddressRange = parseRange(cidr) ?? { family: 4, first: 0n, prefixLength: 0 };
const made = newBlock({ range, owner: "host:n1", nowNs: 1_700_000_000_000_000_000n });
const blocks = {
  ours: made,
  "another's": { ...made, owner: "host:n2" },
  "nobody's": withoutOwner(made),
  "ours, in use": used(made),
} as const;
type BlockName = keyof typeof blocks | "absent";

function used(block: Block): Block {
  const holder = { attribute: { handle_id: "h" }, owner: "host:n1", strictAffinity: false };
  const done = assign(block, { ...holder, count: 1, reservations: [] });
  return done.is === "assigned" ? forWrite(done.block) : block;
}

function storeWith(state: AffinityState | "none", block: BlockName): IpamStore {
  const store = new IpamStore();
  if (state !== "none") store.put({ kind: "affinity", value: affinity(state) });
  if (block !== "absent") store.put({ kind: "block", value: blocks[block] });
  return store;
}

function affinity(state: AffinityState): Affinity {
  return { owner: n1, cidr, state, isDeleted: false };
}

/** The writes in their order. */
function written(step: Step): string[] {
  if (step.do === "delete") return [`delete ${step.ref.kind}`];
  if (step.do !== "create" && step.do !== "update") return [];
  const { object } = step;
  if (object.kind === "affinity") return [`${step.do} affinity ${object.value.state}`];
  return [
    `${step.do} ${object.kind}${object.kind === "block" && object.value.owner === undefined ? " ownerless" : ""}`,
  ];
}

function traced<T>(
  store: IpamStore,
  steps: Steps<T>,
  race: (step: Step, writes: readonly string[]) => void = () => {},
) {
  const writes: string[] = [];
  const result = store.run(steps, (step) => {
    race(step, writes);
    writes.push(...written(step));
    return undefined;
  });
  return { result, writes };
}

function stateOf(store: IpamStore): string {
  const shown = store.objects().flatMap((object) => {
    if (object.kind === "affinity") return [`${object.value.owner.name} ${object.value.state}`];
    return object.kind === "block" ? [`block of ${object.value.owner ?? "nobody"}`] : [];
  });
  return shown.sort().join(", ");
}

/** As a node with a list of its affinities does: it goes on from the one that it has read. */
function* claim(): Steps<Claimed> {
  return yield* claimBlock({ owner: n1, range }, yield* getAffinity(n1, cidr));
}

const toClaim: { state: AffinityState | "none"; block: BlockName; is: Claimed["is"]; writes: string[] }[] = [
  {
    state: "none",
    block: "absent",
    is: "claimed",
    writes: ["create affinity pending", "create block", "update affinity confirmed"],
  },
  {
    state: "none",
    block: "ours",
    is: "claimed",
    writes: ["create affinity pending", "update block", "update affinity confirmed"],
  },
  { state: "none", block: "another's", is: "lost", writes: ["create affinity pending", "delete affinity"] },
  { state: "none", block: "nobody's", is: "lost", writes: ["create affinity pending", "delete affinity"] },
  {
    state: "pending",
    block: "absent",
    is: "claimed",
    writes: ["update affinity pending", "create block", "update affinity confirmed"],
  },
  {
    state: "pending",
    block: "ours",
    is: "claimed",
    writes: ["update affinity pending", "update block", "update affinity confirmed"],
  },
  { state: "pending", block: "another's", is: "lost", writes: ["delete affinity"] },
  {
    state: "pendingDeletion",
    block: "ours",
    is: "claimed",
    writes: ["update affinity pending", "update block", "update affinity confirmed"],
  },
  {
    state: "pendingDeletion",
    block: "absent",
    is: "claimed",
    writes: ["update affinity pending", "create block", "update affinity confirmed"],
  },
  { state: "confirmed", block: "ours", is: "claimed", writes: [] },
  {
    state: "confirmed",
    block: "absent",
    is: "claimed",
    writes: ["update affinity pending", "create block", "update affinity confirmed"],
  },
  { state: "confirmed", block: "another's", is: "lost", writes: ["delete affinity"] },
];
for (const { state, block, is, writes } of toClaim) {
  test(`claiming with affinity ${state} and block ${block}: ${is}`, () => {
    const store = storeWith(state, block);
    const done = traced(store, claim());
    equal(done.result.is, is);
    deepEqual(done.writes, writes);
    if (is === "claimed") equal(stateOf(store), "block of host:n1, n1 confirmed");
    else equal(stateOf(store), `block of ${block === "another's" ? "host:n2" : "nobody"}`);
  });
}

const races: { name: string; before: string; does: (store: IpamStore) => void; is: Claimed["is"]; leaves: string }[] = [
  {
    name: "another node makes the block first",
    before: "create block",
    does: (store) => store.put({ kind: "block", value: blocks["another's"] }),
    is: "lost",
    leaves: "block of host:n2",
  },
  {
    name: "another worker of this node makes the block first",
    before: "create block",
    does: (store) => store.put({ kind: "block", value: blocks.ours }),
    is: "claimed",
    leaves: "block of host:n1, n1 confirmed",
  },
  {
    name: "another worker of this node confirms first",
    before: "update affinity confirmed",
    does: (store) => store.put({ kind: "affinity", value: affinity("confirmed") }),
    is: "claimed",
    leaves: "block of host:n1, n1 confirmed",
  },
  {
    name: "somebody begins to release it",
    before: "update affinity confirmed",
    does: (store) => store.put({ kind: "affinity", value: affinity("pendingDeletion") }),
    is: "claimed",
    leaves: "block of host:n1, n1 confirmed",
  },
  {
    name: "somebody releases it whole",
    before: "update affinity confirmed",
    does: (store) => store.entries.clear(),
    is: "claimed",
    leaves: "block of host:n1, n1 confirmed",
  },
];
for (const { name, before, does, is, leaves } of races) {
  test(`a race for a claim: ${name}`, () => {
    const store = new IpamStore();
    let isOver = false;
    const done = traced(store, claimBlock({ owner: n1, range }), (step) => {
      if (isOver || !written(step).includes(before)) return;
      isOver = true;
      does(store);
    });
    equal(isOver, true, "the race did not happen");
    equal(done.result.is, is);
    equal(stateOf(store), leaves);
  });
}

const gone = ["update affinity pendingDeletion", "delete block", "delete affinity"];
const toRelease: {
  name: string;
  state: AffinityState | "none";
  block: BlockName;
  asks?: Partial<ReleaseOfClaim>;
  is: string;
  writes: string[];
}[] = [
  { name: "an empty block goes", state: "confirmed", block: "ours", is: "released", writes: gone },
  {
    name: "one that was begun is finished",
    state: "pendingDeletion",
    block: "ours",
    is: "released",
    writes: gone.slice(1),
  },
  {
    name: "an affinity without block goes",
    state: "pending",
    block: "absent",
    is: "released",
    writes: ["update affinity pendingDeletion", "delete affinity"],
  },
  { name: "no affinity", state: "none", block: "ours", is: "no-claim", writes: [] },
  {
    name: "a block in use stays",
    state: "confirmed",
    block: "ours, in use",
    is: "block '10.9.0.0/30' is not empty",
    writes: [],
  },
  {
    name: "a block in use loses its owner, if that is wanted",
    state: "confirmed",
    block: "ours, in use",
    asks: { mustBeEmpty: false },
    is: "released",
    writes: ["update affinity pendingDeletion", "update block ownerless", "delete affinity"],
  },
  {
    name: "a block that has changed since",
    state: "confirmed",
    block: "ours",
    asks: { sequenceNumber: 5n },
    is: "IPAM block updated since we last read it",
    writes: [],
  },
  {
    name: "a stale affinity goes",
    state: "confirmed",
    block: "another's",
    is: "block 10.9.0.0/30 belongs to host:n2",
    writes: ["delete affinity"],
  },
];
const said = (result: ClaimReleased) => (result.is === "refused" ? result.says : result.is);
for (const { name, state, block, asks = {}, is, writes } of toRelease) {
  test(`releasing a claim: ${name}`, () => {
    const done = traced(
      storeWith(state, block),
      releaseClaim({ owner: n1, range, mustBeEmpty: true, cooldownSeconds: 0, ...asks }),
    );
    equal(said(done.result), is);
    deepEqual(done.writes, writes);
  });
}

test("a block that is used just as it is taken over stays its owner's, who then finishes the claim", () => {
  const store = storeWith("confirmed", "ours");
  const release = releaseClaim({
    owner: n1,
    range,
    mustBeEmpty: true,
    cooldownSeconds: 0,
    sequenceNumber: made.sequenceNumber,
  });
  const done = traced(store, release, (step) => {
    if (step.do === "delete") store.put({ kind: "block", value: used(made) });
  });
  equal(said(done.result), "IPAM block updated since we last read it");
  equal(stateOf(store), "block of host:n1, n1 pendingDeletion");
  equal(store.run(claim()).is, "claimed");
  equal(stateOf(store), "block of host:n1, n1 confirmed");
});

test("whoever gets an object that is marked as deleted finishes its deletion", () => {
  const store = storeWith("none", "absent");
  store.put({ kind: "affinity", value: { ...affinity("confirmed"), isDeleted: true } });
  store.put({ kind: "block", value: { ...made, isDeleted: true } });
  equal(store.run(claim()).is, "claimed");
  equal(stateOf(store), "block of host:n1, n1 confirmed");
});

const stored: { name: string; spec: object; state: AffinityState; type: string }[] = [
  { name: "old data has neither state nor type", spec: { node: "n1", cidr }, state: "confirmed", type: "host" },
  {
    name: "a state that nobody knows is not relied on",
    spec: { node: "n1", cidr, state: "odd" },
    state: "pending",
    type: "host",
  },
  {
    name: "services' blocks are virtual",
    spec: { node: "load-balancer", type: "virtual", cidr, state: "pendingDeletion" },
    state: "pendingDeletion",
    type: "virtual",
  },
];
for (const { name, spec, state, type } of stored) {
  test(`a stored affinity: ${name}`, () => {
    const read = readAffinity(spec);
    deepEqual([read.state, read.owner.type], [state, type]);
    deepEqual(readAffinity(affinitySpec(read)), read);
  });
}
