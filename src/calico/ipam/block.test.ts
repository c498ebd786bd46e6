// What is stored after each change of a block, in the original's form and order (recorded answers: its ADD and DEL, FIFO, cooldown),
// and what holds after any row of changes.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AddressRange, parseRange, rangeText } from "../../base/lib/index.ts";
import { ipamBlockSpec } from "../kinds/index.ts";
import { readSchema } from "../model/index.ts";
import { addressOf, type Block, blockSpec, cidrOf, freeOrdinals, isEmpty, readBlock } from "./block.ts";
import {
  assign,
  assignNamed,
  forWrite,
  newBlock,
  type ReleaseRequest,
  releaseAddresses,
  releaseByHandle,
  sweep,
  withoutOwner,
} from "./block-changes.ts";
import { handleSpec, isUnused, lowered, newHandle, raised, readHandle, withoutBlock } from "./handle.ts";
import { readReservations } from "./reservations.ts";

function range(text: string): AddressRange {
  const found = parseRange(text);
  if (found === undefined) throw new Error(`${text} is no range`);
  return found;
}

const second = 1_000_000_000n;
const nowNs = 1_794_824_392_123_456_789n; // 2026-11-16T10:19:52Z, beyond 2^53
const fresh = newBlock({ range: range("10.9.0.0/30"), owner: "host:n1", nowNs });
const at0 = { nowNs, cooldownSeconds: 0 };
const ours = { owner: "host:n1", strictAffinity: false };
const holder = (handle: string) => ({ ...ours, attribute: { handle_id: handle, secondary: { node: "n1" } } });

/** As a sentence of changes, each of which is one write. */
type Change = (block: Block) => Block;
const take =
  (handle: string, count = 1, reserved: readonly string[] = []): Change =>
  (block) => {
    const reservations = readReservations([{ reservedCIDRs: reserved }]);
    const done = assign(block, { ...holder(handle), count, reservations });
    if (done.is === "refused") throw new Error(done.says);
    return forWrite(done.block);
  };
const named =
  (handle: string, address: string): Change =>
  (block) => {
    const done = assignNamed(block, range(address), holder(handle));
    if (done.is === "refused") throw new Error(done.says);
    return forWrite(done.block);
  };
const give =
  (handle: string, cooldownSeconds = 0, afterNs = 0n): Change =>
  (block) =>
    forWrite(releaseByHandle(block, { handle, nowNs: nowNs + afterNs, cooldownSeconds }).block);
const giveAddress =
  (request: Omit<ReleaseRequest, "address">, address: string, cooldownSeconds = 0): Change =>
  (block) => {
    const done = releaseAddresses(block, [{ address: range(address), ...request }], { nowNs, cooldownSeconds });
    if (done.is === "conflict") throw new Error(done.says);
    return forWrite(done.block);
  };

const entry = (handle: string) => `{"handle_id":"${handle}","secondary":{"node":"n1"}}`;
const waits = '{"releasedAt":"2026-11-16T10:19:52Z"}';
type Stored = { allocations: string; unallocated: string; attributes?: string[]; numbers?: string; writes: number };
const cases: { name: string; changes: Change[]; stored: Stored }[] = [
  {
    name: "a new block",
    changes: [],
    stored: { allocations: "null,null,null,null", unallocated: "0,1,2,3", writes: 0 },
  },
  {
    name: "the first address",
    changes: [take("a")],
    stored: {
      allocations: "0,null,null,null",
      unallocated: "1,2,3",
      attributes: [entry("a")],
      numbers: '"0":+0',
      writes: 1,
    },
  },
  {
    name: "two addresses of one request share their entry",
    changes: [take("a", 2)],
    stored: {
      allocations: "0,0,null,null",
      unallocated: "2,3",
      attributes: [entry("a")],
      numbers: '"0":+0,"1":+0',
      writes: 1,
    },
  },
  {
    name: "a freed address goes to the end, and entries close up",
    changes: [take("a"), take("b"), take("c"), give("b")],
    stored: {
      allocations: "0,null,1,null",
      unallocated: "3,1",
      attributes: [entry("a"), entry("c")],
      numbers: '"0":+0,"2":+2',
      writes: 4,
    },
  },
  {
    name: "a freed address is the last to be handed out again",
    changes: [take("a"), take("b"), give("a"), take("c"), take("d"), take("e")],
    stored: {
      allocations: "3,0,1,2",
      unallocated: "",
      attributes: [entry("b"), entry("c"), entry("d"), entry("e")],
      numbers: '"0":+5,"1":+1,"2":+3,"3":+4',
      writes: 6,
    },
  },
  {
    name: "reserved addresses are passed over and stay in place",
    changes: [take("a", 1, ["10.9.0.0/31"])],
    stored: {
      allocations: "null,null,0,null",
      unallocated: "0,1,3",
      attributes: [entry("a")],
      numbers: '"2":+0',
      writes: 1,
    },
  },
  {
    name: "a named address leaves the order of the others",
    changes: [named("a", "10.9.0.2")],
    stored: {
      allocations: "null,null,0,null",
      unallocated: "0,1,3",
      attributes: [entry("a")],
      numbers: '"2":+0',
      writes: 1,
    },
  },
  {
    name: "with cooldown an address waits: neither free nor held, its number as it was",
    changes: [take("a"), take("b"), take("c"), give("b", 60)],
    stored: {
      allocations: "0,2,1,null",
      unallocated: "3",
      attributes: [entry("a"), entry("c"), waits],
      numbers: '"0":+0,"1":+1,"2":+2',
      writes: 4,
    },
  },
  {
    name: "given back by address, the number of one that waits is the block's",
    changes: [take("a"), take("b"), giveAddress({}, "10.9.0.0", 60)],
    stored: {
      allocations: "1,0,null,null",
      unallocated: "2,3",
      attributes: [entry("b"), waits],
      numbers: '"0":+2,"1":+1',
      writes: 3,
    },
  },
  {
    name: "when the cooldown is over, the sweep frees in the order of ordinals",
    changes: [
      take("a", 2),
      take("b"),
      give("b", 60),
      give("a", 60),
      (block) => sweep(block, { nowNs: nowNs + 60n * second, cooldownSeconds: 60 }),
    ],
    stored: { allocations: "null,null,null,null", unallocated: "3,0,1,2", writes: 4 },
  },
  {
    name: "a second before, it frees nothing",
    changes: [
      take("a"),
      give("a", 60),
      (block) => sweep(block, { nowNs: nowNs + 59n * second - (nowNs % second), cooldownSeconds: 60 }),
    ],
    stored: {
      allocations: "0,null,null,null",
      unallocated: "1,2,3",
      attributes: [waits],
      numbers: '"0":+0',
      writes: 2,
    },
  },
  {
    name: "by address with the right handle and number",
    changes: [take("a"), giveAddress({ handle: "a", sequenceNumber: nowNs }, "10.9.0.0")],
    stored: { allocations: "null,null,null,null", unallocated: "1,2,3,0", writes: 2 },
  },
];

for (const { name, changes, stored } of cases) {
  test(`stored: ${name}`, () => {
    const block = changes.reduce((before, change) => change(before), fresh);
    const { allocations, unallocated, attributes = [], numbers = "", writes } = stored;
    const members = [
      '"cidr":"10.9.0.0/30","affinity":"host:n1","affinityClaimTime":"2026-11-16T10:19:52Z","strictAffinity":false',
      `"allocations":[${allocations}],"unallocated":[${unallocated}],"attributes":[${attributes.join(",")}]`,
      `"sequenceNumber":${nowNs + BigInt(writes)}`,
      `"sequenceNumberForAllocation":{${numbers.replace(/\+(\d+)/g, (_, add) => String(nowNs + BigInt(add)))}}`,
      '"deleted":false',
    ];
    equal(written(block), `{${members.join(",")}}`);
    deepEqual(readBlock(readSchema(ipamBlockSpec, blockSpec(block), "spec")), { is: "block", block });
  });
}

function written(block: Block): string {
  return ipamBlockSpec.go.write(blockSpec(block));
}

test("a block without owner leaves both members out", () => {
  const text = written(withoutOwner(fresh));
  equal(text.includes("affinity"), false);
});

const refusals: { name: string; does: () => { is: string; says?: string }; says: string }[] = [
  {
    name: "a named address that is taken",
    does: () => assignNamed(take("a")(fresh), range("10.9.0.0"), holder("b")),
    says: "Address already assigned in block",
  },
  {
    name: "a named address that waits",
    does: () => assignNamed(give("a", 60)(take("a")(fresh)), range("10.9.0.0"), holder("b")),
    says: "Address already assigned in block",
  },
  {
    name: "a named address of another block",
    does: () => assignNamed(fresh, range("10.9.0.4"), holder("b")),
    says: "10.9.0.4/32 is not in block 10.9.0.0/30",
  },
  {
    name: "another node's block, strictly",
    does: () => assign(fresh, { ...holder("a"), owner: "host:n2", strictAffinity: true, count: 1, reservations: [] }),
    says: "Block host affinity does not match",
  },
  {
    name: "nobody's block, strictly",
    does: () => assign(withoutOwner(fresh), { ...holder("a"), strictAffinity: true, count: 1, reservations: [] }),
    says: "Attempt to assign from block 10.9.0.0/30 with no affinity",
  },
  {
    name: "the wrong number",
    does: () => releaseAddresses(take("a")(fresh), [{ address: range("10.9.0.0"), sequenceNumber: 5n }], at0),
    says: `the given sequence number (5) does not match (${nowNs}) when attempting to release IP`,
  },
  {
    name: "the wrong handle",
    does: () => releaseAddresses(take("a")(fresh), [{ address: range("10.9.0.0"), handle: "b" }], at0),
    says: "the given handle (b) does not match (a) when attempting to release IP",
  },
];
for (const { name, does, says } of refusals) test(`refused: ${name}`, () => equal(does().says, says));

test("borrowed without strict affinity", () => {
  const done = assign(fresh, { ...holder("a"), owner: "host:n2", count: 1, reservations: [] });
  deepEqual(done.is === "assigned" && done.addresses.map(rangeText), ["10.9.0.0/32"]);
});

test("addresses that nobody holds are answered as such, and one asked for twice counts once", () => {
  const block = give("b", 60)(take("b")(take("a")(fresh)));
  const asked = ["10.9.0.0", "10.9.0.0", "10.9.0.1", "10.9.0.3", "10.9.0.9"].map((each) => ({ address: range(each) }));
  const done = releaseAddresses(block, asked, at0);
  if (done.is === "conflict") throw new Error(done.says);
  deepEqual(done.notAllocated.map(rangeText), ["10.9.0.1/32", "10.9.0.3/32", "10.9.0.9/32"]);
  deepEqual([...done.countByHandle], [["a", 1]]);
});

test("one address that does not fit keeps all of them", () => {
  const block = take("b")(take("a")(fresh));
  const asked = [{ address: range("10.9.0.0") }, { address: range("10.9.0.1"), handle: "x" }];
  equal(releaseAddresses(block, asked, at0).is, "conflict");
});

test("what is behind a carriage return is no part of a handle", () => {
  equal(releaseByHandle(take("a\rrest")(fresh), { handle: "a", ...at0 }).released.length, 1);
});

const empties: { name: string; block: Block; is: boolean }[] = [
  { name: "a new block", block: fresh, is: true },
  { name: "a block in use", block: take("a")(fresh), is: false },
  { name: "a block whose only address waits", block: give("a", 60)(take("a")(fresh)), is: false },
  { name: "a block with Windows' own addresses only", block: take("windows-reserved-ipam-handle", 3)(fresh), is: true },
];
for (const { name, block, is } of empties)
  test(`empty: ${name} ${is ? "is" : "is not"}`, () => equal(isEmpty(block), is));

const unreadable: { name: string; spec: object; field: string }[] = [
  { name: "no CIDR", spec: { cidr: "x" }, field: "spec.cidr" },
  { name: "too large", spec: { cidr: "10.0.0.0/8" }, field: "spec.cidr" },
  { name: "too few allocations", spec: { allocations: [null] }, field: "spec.allocations" },
  { name: "an index without an entry", spec: { allocations: [3, null, null, null] }, field: "spec.allocations" },
  { name: "an ordinal twice", spec: { unallocated: [1, 1] }, field: "spec.unallocated" },
  { name: "an ordinal beyond the block", spec: { unallocated: [4] }, field: "spec.unallocated" },
];
for (const { name, spec, field } of unreadable) {
  test(`a stored block that cannot be used: ${name}`, () => {
    const read = readBlock({ ...blockSpec(fresh), ...spec });
    equal(read.is === "invalid" && read.field, field);
  });
}

type Act = { readonly does: "take" | "give" | "name" | "wait"; readonly who: number; readonly count: number };
const anyActs = fc.array(
  fc.record<Act>({
    does: fc.constantFrom("take", "give", "name", "wait"),
    who: fc.integer({ min: 0, max: 5 }),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  { maxLength: 40 },
);

test("after any changes: no address twice, free and used make up the block, handles count what is held", () => {
  fc.assert(
    fc.property(anyActs, fc.constantFrom(0, 30), (acts, cooldownSeconds) => {
      let block = newBlock({ range: range("10.9.0.0/29"), owner: "host:n1", nowNs });
      let time = nowNs;
      const handles = new Map(Array.from({ length: 6 }, (_, who) => [who, newHandle(`h${who}`)]));
      for (const { does, who, count } of acts) {
        const handle = handles.get(who) ?? newHandle("");
        block = sweep(block, { nowNs: time, cooldownSeconds });
        if (does === "wait") time += BigInt(count) * 10n * second;
        else if (does === "give") {
          const done = releaseByHandle(block, { handle: handle.id, nowNs: time, cooldownSeconds });
          const { handle: left, missing } = lowered(handle, cidrOf(block), done.released.length);
          equal(missing, 0);
          handles.set(who, left);
          block = forWrite(done.block);
        } else {
          const done =
            does === "take"
              ? assign(block, { ...holder(handle.id), count, reservations: [] })
              : assignNamed(block, addressOf(block, count), holder(handle.id));
          if (done.is === "refused") continue;
          equal(new Set(done.addresses.map(rangeText)).size, done.addresses.length);
          handles.set(who, raised(handle, cidrOf(block), done.addresses.length));
          block = forWrite(done.block);
        }
        checkBlock(block);
        for (const { id, blocks } of handles.values()) equal(blocks.get(cidrOf(block)) ?? 0, heldBy(block, id));
      }
    }),
  );
});

test("for any block: giving back what was just taken restores it, but for the order of the free ones", () => {
  fc.assert(
    fc.property(anyActs, fc.integer({ min: 1, max: 4 }), (acts, count) => {
      const before = acts.reduce(
        (block, { does, who }) => (does === "give" ? give(`h${who}`)(block) : take(`h${who}`)(block)),
        newBlock({ range: range("10.9.0.0/29"), owner: "host:n1", nowNs }),
      );
      const after = give("new")(take("new", count)(before));
      const sorted = (block: Block) => ({
        ...block,
        sequenceNumber: 0n,
        unallocated: [...block.unallocated].sort((a, b) => a - b),
      });
      deepEqual(sorted(after), sorted(before));
      equal(after.sequenceNumber, before.sequenceNumber + 2n);
    }),
  );
});

function checkBlock(block: Block): void {
  const used = block.allocations.flatMap((index, ordinal) => (index === null ? [] : [ordinal]));
  deepEqual(
    [...used, ...freeOrdinals(block, [])].sort((a, b) => a - b),
    [...block.allocations.keys()],
  );
  deepEqual(
    [...block.sequenceNumbers.keys()].sort((a, b) => a - b),
    used,
  );
  deepEqual(
    [...new Set(block.allocations)].filter((index) => index !== null).sort((a, b) => a - b),
    [...block.attributes.keys()],
  );
  equal(readBlock(blockSpec(block)).is, "block");
}

function heldBy(block: Block, handle: string): number {
  return block.allocations.filter((index) => index !== null && block.attributes[index]?.handle_id === handle).length;
}

test("a handle is raised and lowered by block, and unused when all are at nothing", () => {
  const two = raised(raised(newHandle("net.c1"), "10.9.0.0/30", 2), "10.10.0.0/30", 1);
  deepEqual(handleSpec(two), {
    handleID: "net.c1",
    block: { "10.10.0.0/30": 1, "10.9.0.0/30": 2 },
    deleted: false,
  });
  deepEqual(readHandle(handleSpec(two)), two);
  const one = lowered(two, "10.9.0.0/30", 2);
  deepEqual([one.missing, [...one.handle.blocks], isUnused(one.handle)], [0, [["10.10.0.0/30", 1]], false]);
  equal(isUnused(withoutBlock(one.handle, "10.10.0.0/30")), true);
  equal(lowered(one.handle, "10.10.0.0/30", 3).missing, 2);
  equal(raised(two, "10.9.0.0/30", 0), two);
});
